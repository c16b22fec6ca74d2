# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0
"""Plain computations of one row, in double, in the order that a case gives. Nothing of Tokkos's is
used, and nothing is fast."""

import math

INFINITY = math.inf


def penalize(logits, policy, request):
    """The logits after penalties; p, f, r and the histories are the request's."""
    p = request.get("presence_penalty", 0.0)
    f = request.get("frequency_penalty", 0.0)
    r = request.get("repetition_penalty", 1.0)
    prompt = request.get("prompt_token_ids", [])
    output = request.get("generated_token_ids", [])
    result = list(logits)
    for v, x in enumerate(logits):
        count = output.count(v)
        if policy == "seed" and count:
            x -= p + count * f
            result[v] = x * r if x < 0 else x / r
        elif policy in ("openai", "hugging_face"):
            if v in prompt or count:
                x = x * r if x <= 0 else x / r
            if policy == "openai" and count:
                x = x - f * count - p
            result[v] = x
        elif policy == "llama_cpp":
            count = (prompt + output)[-64:].count(v)
            if count:
                x = x * r if x <= 0 else x / r
                result[v] = x - (count * f + p)
    return result


def softmax(logits, temperature=1.0):
    """Probabilities of a row; -inf is a token that cannot come."""
    largest = max(logits)
    weights = [math.exp((x - largest) / temperature) for x in logits]
    return [w / sum(weights) for w in weights]


def keep(probabilities, kept):
    """The probabilities of some tokens, which then sum to 1; the others' are 0."""
    total = sum(probabilities[v] for v in kept)
    return [p / total if v in kept else 0.0 for v, p in enumerate(probabilities)]


def top_k(p, request, ties):
    k = request.get("top_k", 0)
    if k == 0:
        return p
    order = sorted(range(len(p)), key=lambda v: (-p[v], v))
    if ties == "all":
        return keep(p, [v for v in order if p[v] >= p[order[min(k, len(p)) - 1]]])
    return keep(p, order[:k])


def top_p(p, request, ties):
    """The shortest prefix of the sorted tokens that has the share; `ties` says what follows it."""
    share = request.get("top_p", 1.0)
    if share == 1.0:
        return p
    # "id": of equal tokens the lowest first; "last": the highest first; "all": every equal one.
    order = sorted(range(len(p)), key=lambda v: (-p[v], -v if ties == "last" else v))
    length, mass = 0, 0.0
    while mass < share and length < len(order):
        mass += p[order[length]]
        length += 1
    kept = order[:length]
    if ties == "all":
        kept = [v for v in order if p[v] >= p[kept[-1]]]
    return keep(p, kept)


def min_p(p, request, _):
    return keep(p, [v for v in range(len(p)) if p[v] >= request.get("min_p", 0.0) * max(p)])


def temperature(p, request, _):
    """Of probabilities: the softmax of their logarithms divided by it."""
    return softmax([math.log(x) if x > 0 else -INFINITY for x in p], request["temperature"])


STEPS = {"top_k": top_k, "top_p": top_p, "min_p": min_p, "temperature": temperature}


def distribution(logits, request, order, ties):
    """What a draw is from: the steps one after the other, renormalized by each."""
    p = softmax(logits)
    for step in order:
        if step != "temperature" or request.get("temperature", 1.0) != 1.0:
            p = STEPS[step](p, request, ties)
    return p


def draw(p, u):
    """The first token, by id, up to which more than u of the probability lies."""
    mass = 0.0
    for v, x in enumerate(p):
        mass += x
        if mass > u:
            return v
    raise AssertionError("u is below 1")


def philox(key, counter):
    """Philox4x32-10 (Salmon et al., 2011), word 0."""
    k, c = list(key), list(counter)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b & 0xFFFFFFFF, (a >> 32) ^ c[3] ^ k[1], a & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c[0]


def uniform(request):
    """What Tokkos draws a request's only row with where no uniforms are given."""
    stream = 0x811C9DC5  # FNV-1a
    for byte in request["id"].encode():
        stream = ((stream ^ byte) * 0x01000193) & 0xFFFFFFFF
    seed = request.get("seed", 0)
    position = len(request.get("generated_token_ids", []))
    word = philox((seed & 0xFFFFFFFF, seed >> 32), (position, 0, 0, stream))
    return (word >> 8) * 2.0**-24
