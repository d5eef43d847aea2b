class FInput:
    def __init__(self, fname, content):
        self.fname = fname
        self.content = content
