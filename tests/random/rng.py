"""splitmix64: Python's own generators do not promise the same numbers in every version."""


class Rng:
    def __init__(self, seed):
        self.state = seed & (1 << 64) - 1

    def next(self):
        self.state = self.state + 0x9E3779B97F4A7C15 & (1 << 64) - 1
        z = self.state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & (1 << 64) - 1
        z = (z ^ z >> 27) * 0x94D049BB133111EB & (1 << 64) - 1
        return z ^ z >> 31

    def below(self, n):
        return (self.next() << 64 | self.next()) % n if n > 1 << 32 else self.next() % n

    def range(self, low, high):  # both ends included
        return low + self.below(high - low + 1)

    def pick(self, items):
        return items[self.below(len(items))]
