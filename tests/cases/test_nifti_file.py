"""NIfTI files are read as nibabel reads them, whatever they store and however."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path
from tempfile import TemporaryDirectory

import nibabel
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nibabel.orientations import io_orientation

from wardround.cases.images.nifti_file import TYPES, anatomical_axes, read_volume
from wardround.core.errors import BadInput

VERSIONS = {1: nibabel.Nifti1Image, 2: nibabel.Nifti2Image}
numbers = st.floats(-3, 3, allow_subnormal=False).map(lambda x: round(x, 3))


@st.composite
def affines(draw):
    """Three clear directions: any rotation, mirrored or not, zoomed and sheared a little, at any origin."""
    turned, _ = np.linalg.qr(np.array(draw(st.lists(numbers, min_size=9, max_size=9))).reshape(3, 3) + np.eye(3) * 0.1)
    turned = turned * draw(st.tuples(*[st.sampled_from([-1, 1])] * 3))
    sheared = np.eye(3)
    sheared[0, 1] = draw(st.sampled_from([0.0, 0.2]))
    affine = np.eye(4)
    affine[:3, :3] = turned @ sheared * draw(st.tuples(*[st.sampled_from([0.5, 1.0, 4.0])] * 3))
    affine[:3, 3] = draw(st.tuples(numbers, numbers, numbers))
    return affine


@st.composite
def files(draw):
    """A volume with its version, byte order, type, scaling and the way its header tells directions."""
    order = draw(st.sampled_from("<>"))
    dtype = np.dtype(draw(st.sampled_from(list(TYPES.values())))).newbyteorder(order)
    shape = tuple(draw(st.lists(st.integers(1, 5), min_size=2, max_size=5)))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    data = rng.integers(0, 256, (*shape, dtype.itemsize), dtype=np.uint8)
    if dtype.kind == "f":
        data = rng.normal(0, 100, shape).astype(dtype)[..., None]
    values = np.ascontiguousarray(data).view(dtype)[..., 0]
    version, zipped = draw(st.sampled_from([1, 2])), draw(st.booleans())
    scalings = [(1, 0), (0, 3), (np.nan, np.nan), *([] if dtype.names else [(2.5, -1000), (-0.25, 0)])]
    scaling = draw(st.sampled_from(scalings))
    told = draw(st.sampled_from(["sform", "qform", "both", "neither"]))
    return order, values, version, zipped, scaling, told, draw(affines()), draw(affines())


def written(folder, order, values, version, zipped, scaling, told, first, second):
    kind = VERSIONS[version]
    header = kind.header_class(endianness=order)
    header.set_data_dtype(values.dtype)
    header.set_data_shape(values.shape)
    header.set_sform(first if told in ("sform", "both") else None, code=2 if told in ("sform", "both") else 0)
    if told in ("qform", "both"):
        header.set_qform(second, code=1)
    header["scl_slope"], header["scl_inter"] = scaling
    header["vox_offset"] = header.single_vox_offset
    path = Path(folder) / ("volume.nii.gz" if zipped else "volume.nii")
    data = header.binaryblock + b"\0\0\0\0" + values.tobytes(order="F")
    path.write_bytes(gzip.compress(data) if zipped else data)
    return path


@settings(max_examples=150, deadline=None)
@given(files())
def test_read_as_nibabel_reads(drawn):
    with TemporaryDirectory() as folder:
        path = written(folder, *drawn)
        theirs = nibabel.load(path)
        whole = np.asanyarray(theirs.dataobj)
        volume = read_volume(path)
        assert volume.shape == theirs.shape
        cube = whole.reshape((*whole.shape, 1)[:3] if whole.ndim < 4 else (*whole.shape[:3], -1), order="F")
        cube = cube[..., 0] if whole.ndim > 3 else cube
        for axis in range(3):
            for index in {0, cube.shape[axis] - 1}:
                got = volume.plane(axis, index)
                np.testing.assert_array_equal(got, cube.take(index, axis))
                assert got.dtype.kind == whole.dtype.kind
        np.testing.assert_allclose(volume.affine, theirs.affine[:3, :3], atol=2e-3)
        assert [list(axis) for axis in anatomical_axes(theirs.affine[:3, :3])] == io_orientation(theirs.affine).tolist()


def test_an_affine_without_three_directions_turns_nothing():
    for affine in (np.zeros((3, 3)), np.diag([1.0, 0, 1]), np.full((3, 3), np.nan), np.ones((3, 3))):
        assert anatomical_axes(affine) == [(0, 1), (1, 1), (2, 1)]


def test_only_the_slice_of_a_plain_file_is_read(tmp_path):
    """A sparse file of 16 GB stands for a large one: reading it whole would not end."""
    header = nibabel.Nifti1Header()
    header.set_data_dtype(np.int16)
    header.set_data_shape((2000, 2000, 2000))
    header["vox_offset"] = 352
    with (tmp_path / "large.nii").open("wb") as file:
        file.write(header.binaryblock)
        file.seek(352 + 2 * 2000 * 2000 * 1500)
        file.write(np.arange(2000, dtype="<i2").tobytes())
        file.truncate(352 + 2 * 2000**3)
    plane = read_volume(tmp_path / "large.nii").plane(2, 1500)
    assert plane.shape == (2000, 2000)
    np.testing.assert_array_equal(plane[:, 0], np.arange(2000))
    assert not plane[:, 1:].any()


BROKEN = {
    "datatype": ((70, "<h", 32), "holds values of NIfTI type 32, which cannot be shown"),  # complex
    "dimensions": ((40, "<h", 9), "its header is broken: it gives no shape"),
    "length": ((42, "<h", -4), "its header is broken: it gives no shape"),
    "offset": ((108, "<f", 100.0), "its header is broken: its values would begin inside it"),
    "nowhere": ((108, "<f", float("nan")), "its header is broken: it does not say where its values begin"),
    "intercept": ((112, "<ff", 2.0, float("inf")), "its header is broken: it has a slope and no intercept"),
    "pair": ((344, "4s", b"ni1\0"), "is not a NIfTI file"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_header_is_one_line(tmp_path, name):
    (offset, layout, *values), message = BROKEN[name]
    path = tmp_path / "volume.nii"
    nibabel.save(nibabel.Nifti1Image(np.zeros((3, 4, 5), np.int16), np.eye(4)), path)
    data = bytearray(path.read_bytes())
    struct.pack_into(layout, data, offset, *values)
    path.write_bytes(data)
    with pytest.raises(BadInput, match=message):
        read_volume(path)


@pytest.mark.parametrize("name", ["volume.nii", "volume.nii.gz"])
def test_a_file_that_ends_early_is_one_line(tmp_path, name):
    path = tmp_path / name
    nibabel.save(nibabel.Nifti1Image(np.zeros((3, 4, 5), np.int16), np.eye(4)), path)
    data = gzip.decompress(path.read_bytes()) if name.endswith("gz") else path.read_bytes()
    path.write_bytes(gzip.compress(data[:-8]) if name.endswith("gz") else data[:-8])
    for axis, last in enumerate((2, 3, 4)):
        with pytest.raises(BadInput, match="is cut short"):
            read_volume(path).plane(axis, last)
