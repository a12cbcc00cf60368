"""Random positions that every subject of a work shares: splitmix64, a corner drawn axis by axis, slowest first."""


def splitmix64(seed):
    state = seed & (2**64 - 1)
    while True:
        state = (state + 0x9E3779B97F4A7C15) & (2**64 - 1)
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & (2**64 - 1)
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & (2**64 - 1)
        yield z ^ (z >> 31)


def positions(count, shape, patch, seed):
    draw = splitmix64(seed)
    return [tuple(next(draw) % (s - p + 1) for s, p in zip(shape, patch)) for _ in range(count)]
