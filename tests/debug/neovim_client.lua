-- A session of Neovim's client (nvim-dap) with `warpgrind dap`. clients_test.py starts it, with these environment variables:
-- WARPGRIND, PROGRAM, LINE, and NVIM_DAP, the folder of the plugin.
local program, line = os.getenv('PROGRAM'), tonumber(os.getenv('LINE'))
if os.getenv('NVIM_DAP') then vim.opt.runtimepath:append(os.getenv('NVIM_DAP')) end
local dap = require('dap')

local function finish(problem)
  if problem then io.stderr:write(problem .. '\n') end
  vim.cmd(problem and 'cquit 1' or 'quitall!')
end

-- Waits while Neovim handles its messages.
local function wait_for(what, condition)
  if not vim.wait(60000, condition, 20) then error('nothing came: ' .. what) end
end

local function equal(have, want)
  if have ~= want then error('have ' .. vim.inspect(have) .. ', want ' .. vim.inspect(want), 2) end
end

local stops, ended, printed = 0, false, ''
dap.listeners.after.event_stopped['test'] = function() stops = stops + 1 end
dap.listeners.after.event_terminated['test'] = function() ended = true end
dap.listeners.after.event_output['test'] = function(_, body)
  if body.category == 'stdout' then printed = printed .. body.output end
end

local function request(command, arguments)
  local done, problem, answer = false, nil, nil
  dap.session():request(command, arguments, function(e, a) done, problem, answer = true, e, a end)
  wait_for('an answer to ' .. command, function() return done end)
  if problem then error(command .. ': ' .. vim.inspect(problem)) end
  return answer
end

local function after_stop(action)
  local before = stops
  action()
  -- nvim-dap asks for the stack after a stop, and then knows the frame.
  wait_for('a stop', function() return stops > before and dap.session().current_frame ~= nil end)
  return request('stackTrace', { threadId = dap.session().stopped_thread_id }).stackFrames[1]
end

local function evaluate(expression, frame)
  return request('evaluate', { expression = expression, frameId = frame.id, context = 'watch' }).result
end

local function session()
  dap.adapters.warpgrind = { type = 'executable', command = os.getenv('WARPGRIND'), args = { 'dap' } }
  vim.cmd('edit ' .. vim.fn.fnameescape(program))
  vim.api.nvim_win_set_cursor(0, { line, 0 })
  dap.set_breakpoint('i == 69')
  local frame = after_stop(function()
    dap.run({ type = 'warpgrind', request = 'launch', name = 'test', program = program })
    wait_for('a session', function() return dap.session() ~= nil end)
  end)
  equal(frame.line, line)

  local locals = nil
  for _, scope in ipairs(request('scopes', { frameId = frame.id }).scopes) do
    if scope.name == 'Locals' then locals = request('variables', { variablesReference = scope.variablesReference }).variables end
  end
  local value = nil
  for _, variable in ipairs(locals) do
    if variable.name == 'i' then value = variable.value end
  end
  equal(value, '69')
  equal(evaluate('v * 2', frame), '12')  -- in[69] is 69 % 7

  frame = after_stop(dap.step_over)
  equal(frame.line, line + 1)
  equal(evaluate('tile[5]', frame), '72')
  frame = after_stop(dap.step_back)
  equal(frame.line, line)

  dap.clear_breakpoints()
  request('setBreakpoints', { source = { path = program }, breakpoints = {} })
  dap.continue()
  wait_for('the end', function() return ended end)
  local sums = { 0, 0, 0, 0 }
  for n = 0, 255 do
    local block = math.floor(n / 64) + 1
    sums[block] = sums[block] + 2 * (n % 7) * (n % 7)
  end
  equal(printed, table.concat(sums, ' ') .. '\n')
end

local good, problem = pcall(session)
finish(not good and problem or nil)
