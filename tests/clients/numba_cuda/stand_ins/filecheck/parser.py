class Parser:
    def __init__(self, options, patterns, *_):
        self.options = options
        self.patterns = patterns  # a file


def pattern_for_opts(_options):
    return ()
