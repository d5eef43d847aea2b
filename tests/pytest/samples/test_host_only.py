def test_sum():
    assert 1 + 1 == 2
