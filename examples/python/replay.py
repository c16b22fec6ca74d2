# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0
"""Replays a batch of NumPy logits through the C library and compares it with NumPy; then the same
batch as PyTorch tensors, where PyTorch is installed. Exits 77 where NumPy is not."""

import sys

try:
    import numpy
except ImportError:
    print("skipped: NumPy is not installed")
    sys.exit(77)

import tokkos

VOCABULARY = 5000
TEMPERATURES = (0.7, 1.0, 1.3)


def requests():
    """Three requests: a bias, a token that was generated twice, and one that is banned."""
    histories = [tokkos.History([1, 2, 3]) for _ in TEMPERATURES]
    for _ in range(2):
        histories[1].commit(40)
    return [
        tokkos.Request("a", histories[0], logit_bias={4242: 3.0}, temperature=TEMPERATURES[0]),
        tokkos.Request("b", histories[1], frequency_penalty=0.5, temperature=TEMPERATURES[1]),
        tokkos.Request("c", histories[2], banned_token_ids=[7], temperature=TEMPERATURES[2]),
    ]


def expected(logits):
    """The probabilities of these requests, in double."""
    x = logits.astype(numpy.float64)
    x[0, 4242] += 3.0
    x[1, 40] -= 2 * 0.5
    x[2, 7] = -numpy.inf
    x = (x - x.max(axis=1, keepdims=True)) / numpy.array(TEMPERATURES)[:, None]
    e = numpy.exp(x)
    return e / e.sum(axis=1, keepdims=True)


def replay_numpy(processor):
    generator = numpy.random.default_rng(5)
    padded = generator.normal(0.0, 2.5, (3, VOCABULARY + 11)).astype(numpy.float32)
    logits = padded[:, :VOCABULARY]  # rows with gaps: taken as they lie
    right = expected(logits)
    probabilities = numpy.zeros((3, VOCABULARY), numpy.float32)
    tokens = numpy.full(3, -7, numpy.int32)
    logprobs = numpy.zeros(3, numpy.float32)
    processor.process(
        logits, requests(), probabilities=probabilities, tokens=tokens, logprobs=logprobs
    )
    numpy.testing.assert_allclose(probabilities, right, rtol=2e-5, atol=1e-9)
    drawn = right[numpy.arange(3), tokens]
    numpy.testing.assert_allclose(logprobs, numpy.log(drawn), rtol=1e-4)
    assert logits[2, 7] <= -numpy.finfo(numpy.float32).max, "edited in place, without a copy"

    halves = padded[:, :VOCABULARY].astype(numpy.float16)
    again = numpy.zeros(3, numpy.int32)
    processor.process(halves, requests(), tokens=again)
    assert ((0 <= again) & (again < VOCABULARY)).all()
    return padded, tokens


def choose(processor):
    """Greedy requests with the lowest id of equal maxima, and one that must not end yet."""
    logits = numpy.zeros((2, VOCABULARY), numpy.float32)
    logits[:, [70, 90]] = 5.0
    greedy = [
        tokkos.Request("d", tokkos.History([1]), temperature=0.0),
        tokkos.Request("e", tokkos.History([1]), temperature=0.0, min_tokens=1, end_token_ids=[70]),
    ]
    tokens = numpy.full(2, -7, numpy.int32)
    processor.process(logits, greedy, lowest_id=True, tokens=tokens)
    assert tokens.tolist() == [70, 90], tokens


def mask(processor):
    """Masks as grammar libraries keep them: a row of words, which two of three requests have."""
    logits = numpy.zeros((3, VOCABULARY), numpy.float32)
    words = numpy.zeros((1, (VOCABULARY + 31) // 32), numpy.int32)
    words[0, 4242 >> 5] = 1 << (4242 & 31)
    rows = numpy.array([0, -1, 0], numpy.int32)
    tokens = numpy.full(3, -7, numpy.int32)
    processor.process(logits, requests(), tokens=tokens, bitmask=words, bitmask_row_index=rows)
    assert tokens[0] == tokens[2] == 4242 != tokens[1], tokens


def refuse(processor):
    """Errors say which member of which argument was wrong."""
    logits = numpy.zeros((3, VOCABULARY), numpy.float32)
    wrong = {
        "logits.dtype": (numpy.zeros((3, VOCABULARY)), numpy.zeros(3, numpy.int32)),
        "logits.strides": (numpy.zeros((VOCABULARY, 3), numpy.float32).T, numpy.zeros(3, "i4")),
        "tokens.type": (logits, numpy.zeros(3, numpy.int64)),
        "tokens.shape[0]": (logits, numpy.zeros(4, numpy.int32)),
    }
    for member, (rows, tokens) in wrong.items():
        try:
            processor.process(rows, requests(), tokens=tokens)
        except tokkos.Error as error:
            assert member in str(error), f"{member}: {error}"
        else:
            raise AssertionError(f"{member} was not refused")
    for call in (
        lambda: processor.process(logits, requests(), tokenz=numpy.zeros(3, "i4")),
        lambda: tokkos.Request("x", tokkos.History(), top_q=0.5),
    ):
        try:
            call()
        except AttributeError as error:
            assert "has no member" in str(error), error
        else:
            raise AssertionError("a name that there is not was not refused")


def replay_torch(processor, tokens):
    """The same batch as tensors gets the same tokens; bfloat16, which NumPy lacks, works too."""
    import torch

    generator = numpy.random.default_rng(5)
    padded = generator.normal(0.0, 2.5, (3, VOCABULARY + 11)).astype(numpy.float32)
    logits = torch.from_numpy(padded)[:, :VOCABULARY]
    drawn = torch.full((3,), -7, dtype=torch.int32)
    processor.process(logits, requests(), tokens=drawn)
    assert drawn.tolist() == tokens.tolist(), "the same tokens as from NumPy"
    processor.process(logits.to(torch.bfloat16), requests(), tokens=drawn)
    assert ((0 <= drawn) & (drawn < VOCABULARY)).all()


def main():
    processor = tokkos.Processor(tokkos.Context(backend=tokkos.SERIAL), 8, VOCABULARY)
    _, tokens = replay_numpy(processor)
    choose(processor)
    mask(processor)
    refuse(processor)
    print(f"NumPy {numpy.__version__}: 3 rows as in double, tokens {tokens.tolist()}")
    try:
        import torch
    except ImportError:
        print("PyTorch: not installed, left out")
        return
    replay_torch(processor, tokens)
    print(f"PyTorch {torch.__version__}: the same tokens")


main()
