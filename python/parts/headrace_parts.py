"""What the plugin asks of Python. TORCH_VERSION is put in front of it when it is built."""

import hashlib
import importlib
import inspect
import json
import os
import sys
import sysconfig
import traceback

import torch

if torch.__version__.split("+")[0] != TORCH_VERSION:  # noqa: F821
    raise ImportError(f"torch is {torch.__version__}, not {TORCH_VERSION}")  # noqa: F821


def seed(value):
    if torch.cuda.is_available():
        torch.cuda.init()  # else torch keeps a GPU's seed back until Python has used CUDA, which tensors made in C++ don't count as
    torch.manual_seed(value % 2**63)


def function_of(place):
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    name, function = place.split(":")
    return getattr(importlib.import_module(name), function)


def is_installed(file):
    """Whether a file is Python's own or of an installed package, whose version stands for it."""
    within = {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}
    return not {"site-packages", "dist-packages"}.isdisjoint(file.split(os.sep)) or any(file.startswith(folder + os.sep) for folder in within)


# What Python runs at every start: of the machine, not of a run.
STARTS = ("sitecustomize", "usercustomize")


def code(place):
    """SHA-256 of the user's own files, and the versions of the packages that these, or the function's module, name; as JSON."""
    function_of(place)
    files = {name: module.__file__ for name, module in list(sys.modules.items()) if os.path.isfile(getattr(module, "__file__", None) or "")}
    own = {name: file for name, file in files.items() if name not in STARTS and not is_installed(os.path.realpath(file))}
    hashes, named = {}, {place.split(":")[0]}
    for name, file in own.items():
        with open(file, "rb") as opened:
            hashes[name] = hashlib.sha256(opened.read()).hexdigest()
        for value in vars(sys.modules[name]).values():
            if inspect.ismodule(value):
                named.add(value.__name__)
            elif inspect.isclass(value) or inspect.isroutine(value):
                named.add(str(getattr(value, "__module__", "")))
    versions = {}
    for top in {name.split(".")[0] for name in named}:
        version = getattr(sys.modules.get(top), "__version__", None)
        if isinstance(version, str):
            versions[top] = version
    return json.dumps({"files": hashes, "packages": versions}, sort_keys=True)


def network(place, arguments, channels, classes, first_seed):
    make = function_of(place)
    seed(first_seed)
    module = make(channels=channels, classes=classes, **json.loads(arguments))
    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"{place} returned {type(module).__name__}, expected a torch.nn.Module")
    return module


def weights(module):
    return list(module.named_parameters())


def states(module):
    """Buffers that are saved and not whole numbers: those are tables, or counts that change no result."""
    saved = set(module.state_dict())
    return [(name, value) for name, value in module.named_buffers() if name in saved and value.is_floating_point()]


def forward(module, images, training):
    module.train(bool(training))
    if any(buffer.device != images.device for buffer in module.buffers()):
        module.to(images.device)  # tables that are not saved; parameters are there already
    out = module(images)
    return list(out) if isinstance(out, (list, tuple)) else [out]


def loss(place, arguments):
    made = function_of(place)(**json.loads(arguments))
    if not callable(made):
        raise TypeError(f"{place} returned {type(made).__name__}, expected what can be called with logits and labels")
    return made


def loss_of(made, logits, labels):
    value = made(logits, labels)
    if not isinstance(value, torch.Tensor) or value.numel() != 1:
        shape = f"a tensor ({', '.join(map(str, value.shape))})" if isinstance(value, torch.Tensor) else type(value).__name__
        raise TypeError(f"the loss is {shape}, expected a tensor with one number")
    if not value.requires_grad:
        raise ValueError("the loss has no gradient: it does not depend on the logits, or was computed without torch")
    return value.reshape(())


def optimiser(place, arguments, parameters, lr):
    made = function_of(place)(parameters, lr=lr, **json.loads(arguments))
    if not isinstance(made, torch.optim.Optimizer):
        raise TypeError(f"{place} returned {type(made).__name__}, expected a torch.optim.Optimizer")
    closure = inspect.signature(made.step).parameters.get("closure")
    if closure is not None and closure.default is closure.empty:
        raise TypeError(f"{place}: {type(made).__name__} takes a step by a closure, which trainings don't give; choose one that steps by gradients")
    for group in made.param_groups:
        group["initial_lr"] = group["lr"]
    names = {id(value): name for name, value in parameters}
    made.headrace_names = [names.get(id(value)) for group in made.param_groups for value in group["params"]]
    if sorted(map(str, made.headrace_names)) != sorted(names.values()):
        raise ValueError(f"{place}: the optimizer must have each of the {len(names)} tensors that are trained once, and no other")
    return made


def step(made, factor):
    """factor: the schedule's learning rate by the first one; groups keep their relations."""
    for group in made.param_groups:
        group["lr"] = group["initial_lr"] * factor
    made.step()
    made.zero_grad(set_to_none=True)


def optimiser_state(made):
    """Tensors as (key.name of the parameter, float32), and all else as JSON."""
    state, tensors, rest = made.state_dict(), [], {}
    for index, entries in state["state"].items():
        name = made.headrace_names[index]
        for key, value in entries.items():
            if isinstance(value, torch.Tensor) and value.dtype == torch.float32:
                tensors.append((f"{key}.{name}", value))
            elif isinstance(value, torch.Tensor):
                raise TypeError(f"the optimizer keeps '{key}' as {value.dtype}; checkpoints have float32")
            else:
                rest.setdefault(name, {})[key] = value
    groups = [{key: value for key, value in group.items() if key not in ("params", "param_names")} for group in state["param_groups"]]
    return tensors, json.dumps({"groups": groups, "state": rest}, sort_keys=True)


def restore_optimiser(made, tensors, facts):
    saved = json.loads(facts) if facts else {"groups": [], "state": {}}
    own = made.state_dict()
    if len(saved["groups"]) != len(own["param_groups"]):
        raise ValueError("the checkpoint is of another optimizer: its groups of parameters differ")
    values = [value for group in made.param_groups for value in group["params"]]
    places = {name: index for index, name in enumerate(made.headrace_names)}
    state = {places[name]: dict(entries) for name, entries in saved["state"].items()}
    for whole, tensor in tensors:
        key, name = whole.split(".", 1)
        if name not in places:
            raise ValueError(f"the checkpoint has '{whole}', which the network lacks")
        parameter = values[places[name]]
        # Laid out as the parameter is, like what the optimizer itself makes: sums go by the layout.
        like = torch.empty_like(parameter) if tensor.shape == parameter.shape else torch.empty_like(tensor)
        state.setdefault(places[name], {})[key] = like.detach().copy_(tensor)
    groups = [{**mine, **{key: tuple(value) if isinstance(mine.get(key), tuple) else value for key, value in old.items()}}
              for mine, old in zip(own["param_groups"], saved["groups"])]
    made.load_state_dict({"state": state, "param_groups": groups})


def explain(error):
    """One line: the error, and the last place in a file that is not torch's."""
    places = [f for f in traceback.extract_tb(error.__traceback__) if os.sep + "torch" + os.sep not in f.filename and f.filename != "headrace_parts"]
    at = f" ({os.path.basename(places[-1].filename)}:{places[-1].lineno})" if places else ""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}{at}"
