"""What one test does on the virtual GPU."""
from warpgrind import sections
from warpgrind.profile import Profile
from warpgrind_pytest.children import Children


class Recorder(Profile):
    """The fixture `warpgrind`: a profile that is taken anew at each access. It covers the test since its setup, or since
    reset(), and the child processes that have ended."""

    def __init__(self, children: Children):
        super().__init__()
        self._children = children
        self._earlier = []  # before reset()
        children.begin()
        self._works = sections.begin()

    @property
    def json(self):
        return [p for p in [sections.profile() if self._works else None, *self._children.profiles()] if p]

    def reset(self):
        """Later profiles leave out what this process has done so far. Its findings still fail the test."""
        earlier = sections.profile()
        if earlier:
            self._earlier.append(earlier)
        sections.begin()

    def whole(self):
        """The profile of the whole test."""
        return Profile(*self._earlier, *self.json)
