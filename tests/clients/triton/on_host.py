"""torch's own operations on the host. torch's CUDA kernels are machine code without PTX, which the virtual GPU cannot run, while
memory, copies and views of tensors need none. Within OnHost every operation on the GPU's tensors that would launch one of
these kernels is done on copies in host memory, and what it gives or writes goes back. Autograd and whatever else is built
of torch's operations works so, too. On a real GPU the results are the same bits, since the host computes there as well."""
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

# They make, name or move memory, and launch nothing.
NATIVE = {"empty", "empty_strided", "empty_like", "new_empty", "new_empty_strided", "set_", "resize_", "detach", "alias",
          "_local_scalar_dense", "record_stream", "is_pinned", "lift_fresh"}


# Their CUDA kernels add up halves as floats, and the host's do not: they are done in floats here.
IN_FLOATS = {"native_layer_norm", "native_layer_norm_backward"}


def halves_as_floats(value):
    half = isinstance(value, torch.Tensor) and value.dtype in (torch.float16, torch.bfloat16)
    return value.float() if half else value


def on_gpu(value):
    return isinstance(value, torch.Tensor) and value.is_cuda


def is_view(schema):
    return any(result.alias_info is not None and not result.alias_info.is_write for result in schema.returns)


class Copies:
    """Tensors of the GPU, each storage copied once, whole, so that views of it stay views."""

    def __init__(self):
        self.storages = {}  # address: the storage as a flat tensor of bytes on the GPU, on the host
        self.tensors = []  # tensor of the GPU, its copy

    def to_host(self, tensor):
        if not on_gpu(tensor):
            return tensor
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in self.storages:
            flat = torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(storage, 0, (storage.nbytes(), ), (1, ))
            self.storages[storage.data_ptr()] = flat, flat.cpu()
        memory = self.storages[storage.data_ptr()][1].untyped_storage()
        copy = torch.empty(0, dtype=tensor.dtype).set_(memory, tensor.storage_offset(), tensor.size(), tensor.stride())
        self.tensors.append((tensor, copy))
        return copy

    def write_back(self, copy):
        for gpu, host in self.storages.values():
            if host.untyped_storage().data_ptr() == copy.untyped_storage().data_ptr():
                gpu.copy_(host)

    def original(self, copy):
        return next((tensor for tensor, one in self.tensors if one is copy), None)


def to_gpu(tensor, device):
    """A new tensor there, with the strides it has here where it fills its memory."""
    flat = torch.empty(0, dtype=torch.uint8).set_(tensor.untyped_storage(), 0, (tensor.untyped_storage().nbytes(), ), (1, ))
    if tensor.untyped_storage().nbytes() != tensor.numel() * tensor.element_size():
        return torch.empty(tensor.size(), dtype=tensor.dtype, device=device).copy_(tensor.contiguous())
    memory = torch.empty(flat.size(), dtype=torch.uint8, device=device).copy_(flat).untyped_storage()
    return torch.empty(0, dtype=tensor.dtype, device=device).set_(memory, tensor.storage_offset(), tensor.size(), tensor.stride())


class OnHost(TorchDispatchMode):

    def __enter__(self):
        # Tensors are made text with all modes off.
        self.text = torch._tensor_str._str
        torch._tensor_str._str = lambda tensor, **options: self.text(Copies().to_host(tensor), **options)
        return super().__enter__()

    def __exit__(self, *error):
        torch._tensor_str._str = self.text
        return super().__exit__(*error)

    def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
        keywords = dict(keywords or {})
        found = []
        tree_map(lambda value: found.append(value.device) if on_gpu(value) else None, (arguments, keywords))
        wanted = torch.device(keywords["device"]) if keywords.get("device") is not None else None
        to_device = wanted is not None and wanted.type == "cuda"
        if not found and not to_device:
            return function(*arguments, **keywords)
        name = function._schema.name.split("::")[-1]
        if name in NATIVE or is_view(function._schema) or self.copies(name, arguments, keywords):
            return function(*arguments, **keywords)
        device = wanted if wanted is not None else found[0]
        if to_device:
            keywords["device"] = torch.device("cpu")
        copies = Copies()
        arguments, keywords = tree_map(copies.to_host, (arguments, keywords))
        if name in IN_FLOATS:
            results = self.in_floats(function, arguments, keywords)
        else:
            results = function(*arguments, **keywords)
        for argument, value in zip(function._schema.arguments, list(arguments) + [None] * len(function._schema.arguments)):
            value = keywords.get(argument.name, value)
            if argument.alias_info is not None and argument.alias_info.is_write:
                tree_map(lambda one: copies.write_back(one) if isinstance(one, torch.Tensor) else None, value)

        def back(value):
            if not isinstance(value, torch.Tensor):
                return value
            original = copies.original(value)
            if original is not None:
                return original
            return to_gpu(value, device) if device.type == "cuda" else value

        return tree_map(back, results)

    @staticmethod
    def in_floats(function, arguments, keywords):
        """Layer norm for halves: all results are halves, except the means and deviations of the forward pass."""
        kinds = [one.dtype for one in arguments if isinstance(one, torch.Tensor)]
        results = function(*tree_map(halves_as_floats, arguments), **tree_map(halves_as_floats, keywords))
        backward = function._schema.name.endswith("backward")
        return tuple(one.to(kinds[0]) if one is not None and (backward or i == 0) else one for i, one in enumerate(results))

    @staticmethod
    def copies(name, arguments, keywords):
        """A copy of memory as it is: no type changes, nothing is gathered."""
        if name == "copy_":
            to, source = arguments[0], arguments[1]
            return to.dtype == source.dtype and to.size() == source.size() and to.is_contiguous() and source.is_contiguous()
        if name == "_to_copy":
            return arguments[0].is_contiguous() and keywords.get("dtype") in (None, arguments[0].dtype)
        return False
