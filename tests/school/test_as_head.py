"""The class as a head: which head of a run it is most like, and where it looked and no head did."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pages.school.teaching.as_head import alike, where_no_head_looked

counts = arrays(np.int64, (2, 3, 5), elements=st.integers(1, 50))


@given(counts)
def test_it_is_most_like_the_head_that_shared_out_as_it_did(given_counts: np.ndarray) -> None:
    rows = given_counts / given_counts.sum(axis=-1, keepdims=True)
    best, *others = alike(100 * rows[1, 2], rows)
    assert abs(best.shared - 100) < 1e-9 and np.allclose(rows[best.layer, best.head], rows[1, 2])
    assert {(one.layer, one.head) for one in (best, *others)} == {(i, j) for i in range(2) for j in range(3)}
    assert not where_no_head_looked(100 * rows[1, 2], rows)


@given(counts)
def test_the_measure_is_a_hundred_less_the_total_variation(given_counts: np.ndarray) -> None:
    rows = given_counts / given_counts.sum(axis=-1, keepdims=True)
    mean = 100 * rows[0].mean(axis=0)
    for one in alike(mean, rows):
        variation = np.abs(mean / 100 - rows[one.layer, one.head]).sum() / 2
        assert abs(one.shared - 100 * (1 - variation)) < 1e-9


def test_where_the_class_alone_looked_is_found() -> None:
    rows = np.array([[[0.9, 0.1, 0.0], [0.2, 0.7, 0.1]]])
    assert where_no_head_looked(np.array([40.0, 20.0, 40.0]), rows) == [2]
