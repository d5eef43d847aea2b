class Options:
    """match_filename, check_prefixes and further options of LLVM's FileCheck by their names."""

    def __init__(self, match_filename="-", check_prefixes=("CHECK",), **more):
        self.match_filename = match_filename
        self.check_prefixes = list(check_prefixes)
        self.more = more
