"""One plane of a NIfTI file is the same as in the whole array, whatever the file stores and however."""

from __future__ import annotations

import gzip
import struct
import tracemalloc
from pathlib import Path
from tempfile import TemporaryDirectory

import nibabel
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wardround.cases.images.limit import MAX_PIXELS
from wardround.cases.images.nifti import anatomical_axes, read_volume
from wardround.core.errors import BadInput

RGB = [(name, "u1") for name in "RGB"]
TYPES = ["u1", "i2", "i4", "i1", "u2", "u4", "i8", "u8", "f4", "f8", RGB, [*RGB, ("A", "u1")]]
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
    """A volume with its version, byte order, type, scaling, and the forms of its affine."""
    order = draw(st.sampled_from("<>"))
    dtype = np.dtype(draw(st.sampled_from(TYPES))).newbyteorder(order)
    shape = tuple(draw(st.lists(st.integers(1, 5), min_size=2, max_size=5)))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    data = rng.integers(0, 256, (*shape, dtype.itemsize), dtype=np.uint8)
    if dtype.kind == "f":
        data = rng.normal(0, 100, shape).astype(dtype)[..., None]
    values = np.ascontiguousarray(data).view(dtype)[..., 0]
    version, zipped = draw(st.sampled_from([1, 2])), draw(st.booleans())
    scalings = [(1, 0), (0, 3), (np.nan, np.nan), *([] if dtype.names else [(2.5, -1000), (-0.25, 0)])]
    scaling = draw(st.sampled_from(scalings))
    forms = draw(st.sampled_from(["sform", "qform", "both", "neither"]))
    return order, values, version, zipped, scaling, forms, draw(affines()), draw(affines())


def write_volume(folder, order, values, version, zipped, scaling, forms, sform, qform):
    kind = VERSIONS[version]
    header = kind.header_class(endianness=order)
    header.set_data_dtype(values.dtype)
    header.set_data_shape(values.shape)
    has_sform = forms in ("sform", "both")
    header.set_sform(sform if has_sform else None, code=2 if has_sform else 0)
    if forms in ("qform", "both"):
        header.set_qform(qform, code=1)
    header["scl_slope"], header["scl_inter"] = scaling
    header["vox_offset"] = header.single_vox_offset
    path = Path(folder) / ("volume.nii.gz" if zipped else "volume.nii")
    data = header.binaryblock + b"\0\0\0\0" + values.tobytes(order="F")
    path.write_bytes(gzip.compress(data) if zipped else data)
    return path


@settings(max_examples=150, deadline=None)
@given(files())
def test_a_plane_is_the_same_as_in_the_whole_array(drawn):
    with TemporaryDirectory() as folder:
        path = write_volume(folder, *drawn)
        image = nibabel.load(path)
        whole = np.asanyarray(image.dataobj)
        volume = read_volume(path)
        assert volume.shape == image.shape
        shape = (*whole.shape[:3], -1) if whole.ndim > 2 else (*whole.shape, 1, 1)
        first_volume = whole.reshape(shape, order="F")[..., 0]
        for axis in range(3):
            for index in {0, first_volume.shape[axis] - 1}:
                plane = volume.plane(axis, index)
                np.testing.assert_array_equal(plane, first_volume.take(index, axis))
                assert plane.dtype.kind == whole.dtype.kind
        np.testing.assert_allclose(volume.affine, image.affine)


def test_a_quaternion_that_is_too_long_is_normalized(tmp_path):
    """Twice as long as a unit quaternion for half a turn about the third axis: first and second axis are reversed."""
    path = tmp_path / "volume.nii"
    nibabel.save(nibabel.Nifti1Image(np.zeros((3, 4, 5), np.int16), None), path)
    data = bytearray(path.read_bytes())
    struct.pack_into("<hh", data, 252, 1, 0)  # qform, no sform
    struct.pack_into("<fff", data, 256, 0.0, 0.0, 2.0)
    path.write_bytes(data)
    assert anatomical_axes(read_volume(path).affine) == [(0, -1), (1, -1), (2, 1)]


def test_an_affine_without_three_directions_turns_nothing():
    for directions in (np.zeros((3, 3)), np.diag([1.0, 0, 1]), np.full((3, 3), np.nan), np.ones((3, 3))):
        affine = np.eye(4)
        affine[:3, :3] = directions
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


@pytest.mark.parametrize("axis", [0, 1])
def test_memory_is_bounded_by_a_plane_whatever_a_small_file_declares(tmp_path, axis):
    """20 GB of zeros in 20 MB: before the first planes are read, memory for all of them must not be asked for."""
    header = nibabel.Nifti1Header()
    header.set_data_dtype(np.int16)
    header.set_data_shape((100, 10_000, 10_000))
    header["vox_offset"] = 352
    path = tmp_path / "bomb.nii.gz"
    path.write_bytes(gzip.compress(header.binaryblock + b"\0" * (4 + 2 * 100 * 10_000 * 3)))
    tracemalloc.start()
    with pytest.raises(BadInput, match="is cut short"):
        read_volume(path).plane(axis, 0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 30_000_000  # a few planes of 2 MB; the whole volume would be 20 GB


def test_a_plane_that_is_too_large_is_refused_before_it_is_read(tmp_path):
    header = nibabel.Nifti1Header()
    header.set_data_shape((30_000, 30_000, 3))
    header["vox_offset"] = 352
    path = tmp_path / "bomb.nii.gz"
    path.write_bytes(gzip.compress(header.binaryblock + b"\0" * 2000))
    for axis in range(3):
        with pytest.raises(BadInput, match=f"is too large: 30,000 x 30,000 is more than {MAX_PIXELS:,} pixels"):
            read_volume(path).plane(axis, 0)


BROKEN = {
    "datatype": ((70, "<h", 32), "holds values of NIfTI type 32, which cannot be shown"),  # complex
    "unknown datatype": ((70, "<h", 77), "holds values of NIfTI type 77, which cannot be shown"),
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
