"""A pretended graphics card: its tensors cannot mix with the processor's, as with CUDA, and compute the same."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

_setup_privateuseone_for_python_backend("card")
LIBRARY = torch.library.Library("aten", "IMPL")
BETWEEN = ("_to_copy", "copy_", "_copy_from", "index_put_")  # may read one device and write the other


class OnCard(Tensor):
    """A tensor that claims to be on the card; its data are on the processor."""

    held: Tensor

    @staticmethod
    def __new__(cls, held: Tensor) -> "OnCard":
        about = {"strides": held.stride(), "storage_offset": held.storage_offset(), "dtype": held.dtype}
        made = Tensor._make_wrapper_subclass(cls, held.shape, device=torch.device("card:0"), **about)
        made.held = held
        return made

    @classmethod
    def __torch_dispatch__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _computed(function, args, kwargs or {})

    __torch_function__ = torch._C._disabled_torch_function_impl


class Card(TorchDispatchMode):
    """Context with a device "card"."""

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _computed(function, args, kwargs or {})


def _computed(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    name = function.overloadpacket.__name__
    tensors = [one for one in tree_leaves((args, kwargs)) if isinstance(one, Tensor)]
    there = [isinstance(one, OnCard) for one in tensors]
    if any(there) and name not in BETWEEN and any(not on and one.dim() for on, one in zip(there, tensors, strict=True)):
        raise RuntimeError(f"{name}: expected all tensors to be on the same device")
    device = kwargs.get("device")
    onto = any(there) if device is None else torch.device(device).type == "card"
    plain = {**kwargs, "device": torch.device("cpu")} if "device" in kwargs else kwargs
    found = function(*_each(_held, args), **_each(_held, plain))
    if name.endswith("_") and args and isinstance(args[0], Tensor):
        return args[0]
    return _each(OnCard, found) if onto else found


def _held(one: Tensor) -> Tensor:
    return one.held if isinstance(one, OnCard) else one


def _each(function: Callable[[Tensor], Tensor], tree: Any) -> Any:
    return tree_map(lambda one: function(one) if isinstance(one, Tensor) else one, tree)


# torch.tensor calls this without asking the mode.
@torch.library.impl(LIBRARY, "empty_strided", "PrivateUse1")
def _empty_strided(size: Any, stride: Any, **about: Any) -> Tensor:
    return OnCard(torch.empty_strided(size, stride, dtype=about["dtype"], device="cpu"))


@torch.library.impl(LIBRARY, "_copy_from", "PrivateUse1")
def _copy_from(source: Tensor, target: Tensor, _without_waiting: bool = False) -> Tensor:
    _held(target).copy_(_held(source))
    return target
