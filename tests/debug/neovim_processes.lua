-- A session of Neovim's client (nvim-dap) for each of two processes, by `startDebugging`. clients_test.py starts it, with the environment
-- variables of neovim_client.lua. PROGRAM forks two children; each stops in LINE.
local program, line = os.getenv('PROGRAM'), tonumber(os.getenv('LINE'))
if os.getenv('NVIM_DAP') then vim.opt.runtimepath:append(os.getenv('NVIM_DAP')) end
local dap = require('dap')

local stopped, ended, printed, problem = {}, 0, '', nil
dap.listeners.after.event_stopped['test'] = function(session, body) table.insert(stopped, { session = session, thread = body.threadId }) end
dap.listeners.after.event_terminated['test'] = function() ended = ended + 1 end
dap.listeners.after.event_output['test'] = function(_, body)
  if body.category == 'stdout' then printed = printed .. body.output end
end

local function wait_for(what, condition)
  if not vim.wait(60000, condition, 20) then error('nothing came: ' .. what) end
end

local function request(session, command, arguments)
  local done, answer = false, nil
  session:request(command, arguments, function(e, a) done, problem, answer = true, e, a end)
  wait_for('an answer to ' .. command, function() return done end)
  if problem then error(command .. ': ' .. vim.inspect(problem)) end
  return answer
end

local function sessions()
  dap.adapters.warpgrind = { type = 'executable', command = os.getenv('WARPGRIND'), args = { 'dap' } }
  vim.cmd('edit ' .. vim.fn.fnameescape(program))
  vim.api.nvim_win_set_cursor(0, { line, 0 })
  dap.set_breakpoint()
  dap.run({ type = 'warpgrind', request = 'launch', name = 'test', program = program, args = { 'children', '2' } })
  wait_for('two stops', function() return #stopped == 2 end)
  assert(stopped[1].session.id ~= stopped[2].session.id, 'both stops are of one session')
  local values = {}
  for _, stop in ipairs(stopped) do
    local frame = request(stop.session, 'stackTrace', { threadId = stop.thread }).stackFrames[1]
    assert(frame.line == line, vim.inspect(frame))
    table.insert(values, request(stop.session, 'evaluate', { expression = 'by', frameId = frame.id, context = 'watch' }).result)
  end
  table.sort(values)
  assert(table.concat(values, ' ') == '1 2', vim.inspect(values))
  for _, stop in ipairs(stopped) do request(stop.session, 'continue', { threadId = stop.thread }) end
  wait_for('two ends', function() return ended == 2 end)
  assert(printed:find('number 1: 2') and printed:find('number 2: 3'), printed)
end

vim.schedule(function()
  local good, why = xpcall(sessions, debug.traceback)
  if not good then io.stderr:write(tostring(why) .. '\n') end
  vim.cmd(good and 'quitall!' or 'cquit 1')
end)
