# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0
"""Tokkos from Python: ctypes on the C library, arrays by DLPack, nothing to compile and no copies.

Any object with __dlpack__ whose memory may be written to can be logits or output: NumPy arrays, PyTorch
tensors; a JAX array, which is immutable, has to be copied to NumPy first. The library is looked for in
$TOKKOS_LIBRARY, then as libtokkos_c.so where the loader looks."""

import ctypes
import os
from ctypes import c_char_p, c_double, c_float, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

SERIAL, OPENMP, CUDA, HIP = 1, 2, 3, 4  # backends; 0 is the default
LIBRARY = ctypes.CDLL(os.environ.get("TOKKOS_LIBRARY", "libtokkos_c.so"))
LIBRARY.tokkos_last_error.restype = c_char_p
LIBRARY.tokkos_status_name.restype = c_char_p
LIBRARY.tokkos_version.restype = c_char_p


class Error(RuntimeError):
    """A call of the library that failed, with its text."""


def check(status):
    if status != 0:
        name = LIBRARY.tokkos_status_name(status).decode()
        raise Error(f"{name}: {LIBRARY.tokkos_last_error().decode()}")


class Struct(ctypes.Structure):
    """A struct of tokkos.h that begins with its size and has defaults."""

    def __init__(self, **members):
        super().__init__()
        init = getattr(LIBRARY, f"tokkos_{self._c_name_}_init")
        init(ctypes.byref(self), c_size_t(ctypes.sizeof(self)))
        for name, value in members.items():
            if not hasattr(self, name):
                raise AttributeError(f"tokkos_{self._c_name_} has no member {name}")
            setattr(self, name, value)


class Array(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p),
        ("shape", c_int64 * 2),
        ("strides", c_int64 * 2),
        ("type", c_int32),
        ("ndim", c_int32),
        ("flags", c_int32),
        ("reserved", c_int32),
    ]


ArrayPointer = ctypes.POINTER(Array)


class ContextOptions(Struct):
    _c_name_ = "context_options"
    _fields_ = [
        ("size", c_size_t),
        ("stream", c_void_p),
        ("has_stream", c_int32),
        ("backend", c_int32),
        ("device", c_int32),
        ("num_threads", c_int32),
    ]


class Limits(Struct):
    _c_name_ = "limits"
    _fields_ = [
        ("size", c_size_t),
        ("max_rows", c_int64),
        ("vocabulary", c_int64),
        ("active_vocabulary", c_int64),
        ("max_edits", c_int64),
    ]


class TokenBias(ctypes.Structure):
    _fields_ = [("bias", c_double), ("token", c_int32), ("reserved", c_int32)]


class GenerationConfig(Struct):
    _c_name_ = "generation_config"
    _fields_ = [
        ("size", c_size_t),
        ("temperature", c_float),
        ("top_k", c_int32),
        ("top_p", c_float),
        ("min_p", c_float),
        ("presence_penalty", c_float),
        ("frequency_penalty", c_float),
        ("repetition_penalty", c_float),
        ("penalty_policy", c_int32),
        ("penalty_window", c_int32),
        ("min_tokens", c_int32),
        ("no_repeat_ngram_size", c_int32),
        ("reserved", c_int32),
        ("logit_bias", ctypes.POINTER(TokenBias)),
        ("logit_bias_count", c_size_t),
        ("allowed_token_ids", ctypes.POINTER(c_int32)),
        ("allowed_token_count", c_size_t),
        ("banned_token_ids", ctypes.POINTER(c_int32)),
        ("banned_token_count", c_size_t),
        ("end_token_ids", ctypes.POINTER(c_int32)),
        ("end_token_count", c_size_t),
        ("bad_words", c_void_p),
        ("bad_word_count", c_size_t),
        ("seed", c_uint64),
        ("stream", c_uint32),
        ("has_stream", c_int32),
    ]


class RequestStruct(Struct):
    _c_name_ = "request"
    _fields_ = [
        ("size", c_size_t),
        ("config", ctypes.POINTER(GenerationConfig)),
        ("history", c_void_p),
        ("mask", c_void_p),
        ("id", c_char_p),
        ("draft_tree", c_void_p),
        ("draft_nodes", ctypes.POINTER(c_int32)),
        ("rows", c_int64),
    ]


class StepStruct(Struct):
    _c_name_ = "step"
    _fields_ = [
        ("size", c_size_t),
        ("requests", ctypes.POINTER(RequestStruct)),
        ("request_count", c_size_t),
        ("edit_hook", c_void_p),
        ("edit_hook_user", c_void_p),
    ]


class StepOptions(Struct):
    _c_name_ = "step_options"
    _fields_ = [
        ("size", c_size_t),
        ("uniforms", ctypes.POINTER(c_float)),
        ("uniform_count", c_size_t),
        ("ties", c_int32),
        ("store_mask", c_int32),
    ]


class StepOutputs(Struct):
    _c_name_ = "step_outputs"
    _fields_ = [("size", c_size_t)] + [
        (name, ArrayPointer)
        for name in (
            "probabilities",
            "tokens",
            "truncated_probabilities",
            "logprobs",
            "top_tokens",
            "top_logprobs",
            "raw_logprobs",
            "raw_top_tokens",
            "raw_top_logprobs",
            "log_sum_exp",
            "row_status",
            "bitmask",
            "bitmask_row_index",
        )
    ]


class Handle:
    """An object of the library; ends with its owner."""

    _c_name_ = None

    def __init__(self, *arguments):
        self.pointer = c_void_p()
        create = getattr(LIBRARY, f"tokkos_{self._c_name_}_create")
        check(create(*arguments, ctypes.byref(self.pointer)))

    def __del__(self):
        if getattr(self, "pointer", None):
            getattr(LIBRARY, f"tokkos_{self._c_name_}_destroy")(self.pointer)


class Context(Handle):
    _c_name_ = "context"

    def __init__(self, backend=0, stream=None):
        options = ContextOptions(backend=backend, stream=stream, has_stream=stream is not None)
        super().__init__(ctypes.byref(options))

    def fence(self):
        check(LIBRARY.tokkos_context_fence(self.pointer))

    def array(self, tensor, name):
        """The memory of anything with __dlpack__, and what keeps it alive."""
        has_stream, number = c_int32(), c_int64()
        check(
            LIBRARY.tokkos_context_dlpack_stream(
                self.pointer, ctypes.byref(has_stream), ctypes.byref(number)
            )
        )
        stream = number.value if has_stream.value else None
        try:
            capsule = tensor.__dlpack__(stream=stream, max_version=(1, 0))
        except TypeError:  # a producer from before DLPack 1.0
            capsule = tensor.__dlpack__(stream=stream)
        for kind, title in ((2, b"dltensor_versioned"), (1, b"dltensor")):
            if ctypes.pythonapi.PyCapsule_IsValid(ctypes.py_object(capsule), title):
                break
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype = c_void_p
        managed = c_void_p(get(ctypes.py_object(capsule), title))
        array = Array()
        check(
            LIBRARY.tokkos_array_from_dlpack(
                self.pointer, managed, kind, name.encode(), ctypes.byref(array)
            )
        )
        return array, capsule


class History(Handle):
    _c_name_ = "history"

    def __init__(self, prompt=()):
        super().__init__((c_int32 * len(prompt))(*prompt), c_size_t(len(prompt)))

    def commit(self, token):
        check(LIBRARY.tokkos_history_commit(self.pointer, c_int32(token)))


class Request:
    """What one request wants: a name, a history, and members of tokkos_generation_config; logit_bias
    is a dict from token to bias; allowed_token_ids, banned_token_ids and end_token_ids are lists."""

    def __init__(self, name, history, logit_bias=None, **members):
        self.history = history
        biases = [TokenBias(bias, token, 0) for token, bias in (logit_bias or {}).items()]
        self.arrays = [(TokenBias * len(biases))(*biases)]
        for kind in ("allowed", "banned", "end"):
            tokens = members.pop(f"{kind}_token_ids", ())
            self.arrays.append((c_int32 * len(tokens))(*tokens))
            members[f"{kind}_token_ids"] = self.arrays[-1]
            members[f"{kind}_token_count"] = len(tokens)
        self.config = GenerationConfig(
            logit_bias=self.arrays[0], logit_bias_count=len(biases), **members
        )
        self.struct = RequestStruct(
            config=ctypes.pointer(self.config), history=history.pointer, id=name.encode()
        )


class Processor(Handle):
    _c_name_ = "processor"

    def __init__(self, context, max_rows, vocabulary):
        self.context = context
        limits = Limits(max_rows=max_rows, vocabulary=vocabulary)
        super().__init__(context.pointer, ctypes.byref(limits))

    def process(self, logits, requests, lowest_id=False, **outputs):
        """Edits the logits [n, V] in place and writes the outputs that are named, as in
        tokkos_step_outputs: tokens=array, probabilities=array, ... Waits until it is done.
        bitmask [m, w] and bitmask_row_index [n], of int32, are read: the masks of a grammar library.
        Of equal maxima a greedy request draws one, or with lowest_id takes the first."""
        for name in outputs:
            if not hasattr(StepOutputs, name) or name == "size":
                raise AttributeError(f"tokkos_step_outputs has no member {name}")
        structs = (RequestStruct * len(requests))(*(request.struct for request in requests))
        step = StepStruct(requests=structs, request_count=len(requests))
        array, alive = self.context.array(logits, "logits")
        kept = [alive]
        options = StepOptions(ties=int(lowest_id))
        written = StepOutputs()
        for name, tensor in outputs.items():
            output, alive = self.context.array(tensor, name)
            setattr(written, name, ctypes.pointer(output))
            kept += [output, alive]
        check(
            LIBRARY.tokkos_processor_process(
                self.pointer,
                ctypes.byref(array),
                ctypes.byref(step),
                ctypes.byref(written),
                ctypes.byref(options),
                None,
            )
        )
        self.context.fence()
