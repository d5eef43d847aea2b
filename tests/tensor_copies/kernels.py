"""kernels.ptx: one kernel for each form of a tensor copy. All have the same parameters: a tensor map, and the address of the
arguments of cases.h (struct Arguments)."""

SHARED = 20480  # bytes of shared memory that a kernel fills and writes back
REDUCTIONS = ('add', 'min', 'max', 'inc', 'dec', 'and', 'or', 'xor')
# Types and operations of cp.reduce.async.bulk (PTX ISA).
BULK_GLOBAL = [('f16', 'add.noftz'), ('bf16', 'add.noftz'), ('f16', 'min'), ('f16', 'max'), ('bf16', 'min'), ('bf16', 'max'),
               ('b32', 'and'), ('b32', 'or'), ('b32', 'xor'), ('b64', 'and'), ('b64', 'or'), ('b64', 'xor'),
               ('u32', 'add'), ('s32', 'add'), ('u64', 'add'), ('f32', 'add'), ('f64', 'add'), ('u32', 'inc'), ('u32', 'dec'),
               ('u32', 'min'), ('u32', 'max'), ('s32', 'min'), ('s32', 'max'), ('u64', 'min'), ('u64', 'max'), ('s64', 'min'), ('s64', 'max')]
BULK_SHARED = [('b32', 'and'), ('b32', 'or'), ('b32', 'xor'), ('u32', 'add'), ('s32', 'add'), ('u64', 'add'), ('u32', 'inc'), ('u32', 'dec'),
               ('u32', 'min'), ('u32', 'max'), ('s32', 'min'), ('s32', 'max')]
FIELDS = {  # of tensormap.replace: type, whether it has an ordinal
    'global_address': ('b64', False), 'rank': ('b32', False), 'box_dim': ('b32', True), 'global_dim': ('b32', True),
    'global_stride': ('b64', True), 'element_stride': ('b32', True), 'elemtype': ('b32', False), 'interleave_layout': ('b32', False),
    'swizzle_mode': ('b32', False), 'fill_mode': ('b32', False)}  # .swizzle_atomicity needs compute capability 10
IMMEDIATE = {'elemtype': range(13), 'interleave_layout': range(3), 'swizzle_mode': range(4), 'fill_mode': range(2)}

FRAME = '''
.visible .entry {name}(.param .align 64 .b8 map[128], .param .b64 p) {cluster}
{{
  .shared .align 1024 .b8 s[{shared}];
  .shared .align 16 .b8 bar[32];
  .shared .align 128 .b8 changed[128];
  .reg .b32 %t, %i, %n, %w<4>, %c<5>, %q<3>, %at, %to, %bar, %expect, %mask, %size, %done, %rank, %ord, %new, %block;
  .reg .b16 %h<4>;
  .reg .b64 %p, %m, %out, %init, %a, %data, %before, %after, %wide, %copy;
  .reg .pred %first, %x, %y;
  ld.param.b64 %p, [p];
  mov.u32 %t, %tid.x;
  mov.u32 %block, %ctaid.x;
  setp.eq.u32 %first, %t, 0;
  ld.global.b64 %out, [%p];
  ld.global.b64 %init, [%p+8];
  ld.global.b64 %data, [%p+16];
  ld.global.b64 %m, [%p+24];
  ld.global.b32 %c0, [%p+32];
  ld.global.b32 %c1, [%p+36];
  ld.global.b32 %c2, [%p+40];
  ld.global.b32 %c3, [%p+44];
  ld.global.b32 %c4, [%p+48];
  ld.global.b32 %q0, [%p+52];
  ld.global.b32 %q1, [%p+56];
  ld.global.b32 %q2, [%p+60];
  ld.global.b32 %at, [%p+64];
  ld.global.b32 %to, [%p+68];
  ld.global.b32 %w0, [%p+72];
  ld.global.b32 %expect, [%p+76];
  ld.global.b32 %mask, [%p+80];
  ld.global.b32 %size, [%p+84];
  ld.global.b32 %ord, [%p+88];
  ld.global.b64 %wide, [%p+96];
  ld.global.b64 %copy, [%p+104];
  cvt.u32.u64 %new, %wide;
  cvt.u16.u32 %h0, %q0;
  cvt.u16.u32 %h1, %q1;
  cvt.u16.u32 %h2, %q2;
  cvt.u16.u32 %h3, %mask;
  mov.u32 %i, s;
  add.u32 %at, %at, %i;
  add.u32 %to, %to, %i;
  mov.u32 %bar, bar;
  add.u32 %bar, %bar, %w0;
  setp.ne.b64 %x, %m, 0;
  @%x bra HAVE;
  mov.b64 %m, map;
  cvta.param.u64 %m, %m;
HAVE:
  shl.b32 %n, %t, 4;
FILL:
  cvt.u64.u32 %a, %n;
  add.u64 %a, %a, %init;
  ld.global.v4.b32 {{%w0, %w1, %w2, %w3}}, [%a];
  mov.u32 %i, s;
  add.u32 %i, %i, %n;
  st.shared.v4.b32 [%i], {{%w0, %w1, %w2, %w3}};
  add.u32 %n, %n, 512;
  setp.lt.u32 %x, %n, {shared};
  @%x bra FILL;
  @!%first bra READY;
  mov.u32 %i, bar;
  mbarrier.init.shared.b64 [%i], 1;
READY:
  fence.mbarrier_init.release.cluster;
  fence.proxy.async;
  bar.sync 0;
{prepare}
  mov.u32 %done, 0;
  mov.b64 %before, 0;
  mov.b64 %after, 0;
  @!%first bra DONE;
{copy}
DONE:
  bar.sync 0;
{finish}
  shl.b32 %n, %t, 4;
  mul.wide.u32 %a, %block, {shared};
  add.u64 %init, %out, %a;
DUMP:
  cvt.u64.u32 %a, %n;
  add.u64 %a, %a, %init;
  mov.u32 %i, s;
  add.u32 %i, %i, %n;
  ld.shared.v4.b32 {{%w0, %w1, %w2, %w3}}, [%i];
  st.global.v4.b32 [%a], {{%w0, %w1, %w2, %w3}};
  add.u32 %n, %n, 512;
  setp.lt.u32 %x, %n, {shared};
  @%x bra DUMP;
  @!%first bra END;
  mul.wide.u32 %a, %block, 32;
  add.u64 %a, %a, %out;
  st.global.b32 [%a+{status}], %done;
  st.global.b64 [%a+{status8}], %before;
  st.global.b64 [%a+{status16}], %after;
END:
  ret;
}}
'''

# Waits for phase 0 for a bounded time.
WAIT = '''  mov.u32 %n, 0;
WAIT:
  mbarrier.test_wait.parity.shared.b64 %x, [bar], 0;
  selp.b32 %done, 1, 0, %x;
  @%x bra OVER;
  nanosleep.u32 100;
  add.u32 %n, %n, 1;
  setp.lt.u32 %x, %n, 1000;
  @%x bra WAIT;
OVER:
  ld.volatile.shared.b64 %after, [bar];'''
EXPECT = '  mbarrier.arrive.expect_tx.shared.b64 _, [bar], %expect;\n  ld.volatile.shared.b64 %before, [bar];'
CLUSTER_BARRIER = '  barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;'
GROUP = '  cp.async.bulk.commit_group;\n  cp.async.bulk.wait_group 0;\n  mov.u32 %done, 1;'


def kernel(name, copy, cluster='', prepare='', finish=''):
    status = SHARED * (2 if cluster else 1)
    return FRAME.format(name=name, cluster=cluster, shared=SHARED, status=status, status8=status + 8, status16=status + 16,
                        prepare=prepare, copy=copy, finish=finish)


def coordinates(rank):
    return '{' + ', '.join(f'%c{k}' for k in range(rank)) + '}'


def loaded(instruction):
    return f'{EXPECT}\n  {instruction}\n{WAIT}'


def stored(instruction):
    return f'  {instruction}\n{GROUP}'


def load_2(to='%at', bar='%bar', more='', after='', space='shared::cluster'):
    return (f'cp.async.bulk.tensor.2d.{space}.global.tile.mbarrier::complete_tx::bytes{more} [{to}], [%m, {coordinates(2)}], '
            f'[{bar}]{after};')


def replaced(field):
    """Changes the field in shared memory, copies the map to global memory and loads by that one."""
    kind, ordinal = FIELDS[field]
    lines = []
    copies = '\n'.join(f'  ld.b64 %a, [%m+{k}];\n  st.shared.b64 [changed+{k}], %a;' for k in range(0, 128, 8))
    start = f'tensormap.replace.tile.{field}.shared::cta.b1024.{kind} [changed], '
    if field in IMMEDIATE:
        for value in IMMEDIATE[field]:
            lines += [f'setp.eq.u32 %y, %new, {value};', f'@%y {start}{value};']
    elif ordinal:
        for value in range(4 if field == 'global_stride' else 5):
            lines += [f'setp.eq.u32 %y, %ord, {value};', f'@%y {start}{value}, {"%wide" if kind == "b64" else "%new"};']
    else:
        lines.append(f'{start}{"%wide" if kind == "b64" else "%new"};')
    change = '\n'.join('  ' + line for line in lines)
    return f'''  @!%first bra CHANGED;
{copies}
{change}
CHANGED:
  bar.warp.sync 0xffffffff;
  tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%copy], [changed], 128;
  fence.proxy.tensormap::generic.acquire.gpu [%copy], 128;
  mov.b64 %m, %copy;'''


def kernels():
    yield '.version 9.0\n.target sm_90a\n.address_size 64\n'
    for rank in range(1, 6):
        c = coordinates(rank)
        tensor = f'cp.async.bulk.tensor.{rank}d'
        reduce = f'cp.reduce.async.bulk.tensor.{rank}d.global.shared::cta'
        yield kernel(f'load_{rank}', loaded(f'{tensor}.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%at], [%m, {c}], [%bar];'))
        yield kernel(f'store_{rank}', stored(f'{tensor}.global.shared::cta.tile.bulk_group [%m, {c}], [%at];'))
        for op in REDUCTIONS if rank == 2 else ('add',):
            yield kernel(f'red_{op}_{rank}', stored(f'{reduce}.{op}.tile.bulk_group [%m, {c}], [%at];'))
        if rank >= 3:
            offsets = '{' + ', '.join(f'%h{k}' for k in range(rank - 2)) + '}'
            yield kernel(f'im2col_{rank}', loaded(f'{tensor}.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%at], [%m, {c}], [%bar], {offsets};'))
            yield kernel(f'im2colst_{rank}', stored(f'{tensor}.global.shared::cta.im2col_no_offs.bulk_group [%m, {c}], [%at];'))
            yield kernel(f'im2colred_{rank}', stored(f'{reduce}.add.im2col_no_offs.bulk_group [%m, {c}], [%at];'))
    yield kernel('loadcta_2', loaded(load_2(space='shared::cta')))
    yield kernel('loadhint_2', loaded('createpolicy.fractional.L2::evict_first.b64 %a, 1.0;\n  ' + load_2(more='.L2::cache_hint', after=', %a')))
    yield kernel('prefetch_2', '  cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%m, {%c0, %c1}];\n  mov.u32 %done, 1;')
    ranked = '  mov.u32 %rank, %cluster_ctarank;\n' + CLUSTER_BARRIER
    two = '.reqnctapercluster 2, 1, 1'
    expected = '  shr.u32 %i, %mask, %rank;\n  and.b32 %i, %i, 1;\n  mul.lo.u32 %expect, %expect, %i;\n' + EXPECT
    issue = expected + '\n  setp.ne.u32 %y, %rank, 0;\n  @%y bra ISSUED;\n  {}\nISSUED:\n' + WAIT
    yield kernel('multi_2', issue.format(load_2(more='.multicast::cluster', after=', %h3')), two, ranked, CLUSTER_BARRIER)
    peer = 'mapa.shared::cluster.u32 %to, %at, 1;\n  mapa.shared::cluster.u32 %i, %bar, 1;\n  ' + load_2('%to', '%i')
    yield kernel('peer_2', issue.format(peer), two, ranked, CLUSTER_BARRIER)
    for field in FIELDS:
        yield kernel(f'replace_{field}_2', loaded(load_2()), prepare=replaced(field))
    yield kernel('bulk_load', loaded('cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%at], [%data], %size, [%bar];'))
    yield kernel('bulk_store', stored('cp.async.bulk.global.shared::cta.bulk_group [%data], [%at], %size;'))
    for kind, op in BULK_GLOBAL:
        yield kernel(f'bulkred_global_{op.partition(".")[0]}_{kind}', stored(f'cp.reduce.async.bulk.global.shared::cta.bulk_group.{op}.{kind} [%data], [%at], %size;'))
    # In a cluster: to the other block (rank 1), or from block 0 to itself.
    def to_block(rank, instruction):
        return f'mapa.shared::cluster.u32 %to, %to, {rank};\n  mapa.shared::cluster.u32 %i, %bar, {rank};\n  {instruction} [%to], [%at], %size, [%i];'
    between = 'shared::cluster.shared::cta.mbarrier::complete_tx::bytes'
    for kind, op in BULK_SHARED:
        yield kernel(f'bulkred_shared_{op}_{kind}', issue.format(to_block(1, f'cp.reduce.async.bulk.{between}.{op}.{kind}')), two, ranked, CLUSTER_BARRIER)
    yield kernel('bulkred_own', issue.format(to_block(0, f'cp.reduce.async.bulk.{between}.add.u32')), two, ranked, CLUSTER_BARRIER)
    yield kernel('bulk_peer', issue.format(to_block(1, f'cp.async.bulk.{between}')), two, ranked, CLUSTER_BARRIER)
    yield kernel('bulk_own', issue.format(to_block(0, f'cp.async.bulk.{between}')), two, ranked, CLUSTER_BARRIER)
    multicast = 'cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%at], [%data], %size, [%bar], %h3;'
    yield kernel('bulk_multi', issue.format(multicast), two, ranked, CLUSTER_BARRIER)


def kernels_100():
    """Forms of compute capability 10."""
    yield '.version 9.0\n.target sm_100a\n.address_size 64\n'
    rows = '{%c0, %c1, %c2, %c3, %c4}'
    tensor = 'cp.async.bulk.tensor.2d'
    yield kernel('load_rows', loaded(f'{tensor}.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes [%at], [%m, {rows}], [%bar];'))
    yield kernel('load_rows_own', loaded(f'{tensor}.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%at], [%m, {rows}], [%bar];'))
    yield kernel('store_rows', stored(f'{tensor}.global.shared::cta.tile::scatter4.bulk_group [%m, {rows}], [%at];'))
    for rank in (3, 4, 5):
        for mode, name in (('im2col::w', 'width'), ('im2col::w::128', 'width128')):
            for space in ('cluster', 'cta'):
                yield kernel(f'{name}_{space}_{rank}', loaded(f'cp.async.bulk.tensor.{rank}d.shared::{space}.global.{mode}.mbarrier::complete_tx::bytes [%at], [%m, {coordinates(rank)}], [%bar], {{%h0, %h1}};'))
    yield kernel('bulk_store_masked', stored('cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%data], [%at], %size, %h3;'))
