"""Joint noise by sizes alone, and a stand-in for the choice of noise that keeps what it is for."""

from dpfast.measurement.choice import Moves, NoiseCandidate, choose_noise


def box_noise(loss, sizes, weights=(), counts=0):
    """The noise for integers that differ by any vector of a box."""
    return choose_noise(loss, Moves(tuple(sizes), tuple(weights), counts)).noise()


class Recorder:
    """Stands in for `choose_noise`: keeps moves, the integers that noise is added to, no noise."""

    def __init__(self):
        self.moves = self.values = self.loss = self.noise = None

    def __call__(self, loss, moves):
        error, make = choose_noise(loss, moves)

        def silent():
            self.moves, self.noise = moves, make()
            self.loss = self.noise.loss
            return self

        return NoiseCandidate(error, silent)

    def of(self, loss, sensitivity):
        """Stand in for `integer_noise`, too."""
        self.moves, self.loss = Moves((sensitivity.largest,), norm=sensitivity), loss
        return self

    @property
    def asked(self):
        """The sizes of the moves."""
        return self.moves and list(self.moves.sizes)

    @property
    def norms(self):
        """What they are in L1, in L2 squared, in number and at most."""
        norm, sizes = self.moves.norm, self.moves.sizes
        if norm is not None:
            return norm.l1, norm.l2_squared, norm.l0, norm.largest
        return sum(sizes), sum(x * x for x in sizes), len(sizes), max(sizes)

    def add(self, values, generator):
        self.values = list(values)
        return list(values)
