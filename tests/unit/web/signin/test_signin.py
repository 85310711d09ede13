import pytest

from monitor.web.base.page import local_path
from monitor.web.signin.signin import _network


@pytest.mark.parametrize("path", ["/", "/alerts", "/interactions/a/b%2Fc?x=1#y", "/ä"])
def test_own_paths_are_followed(path):
    assert local_path(path) == path


@pytest.mark.parametrize(
    "path", [None, "", "alerts", "//evil", "/\\evil", "https://evil", "/\tevil", "/\nevil", "\\/evil"]
)
def test_other_paths_lead_to_the_overview(path):
    assert local_path(path) == "/"


def test_an_ipv6_network_has_one_limit():
    assert _network("2001:db8:1:2::7") == _network("2001:db8:1:2:ffff::8") != _network("2001:db8:1:3::7")
    assert _network("192.0.2.7") == _network("::ffff:192.0.2.7") == "192.0.2.7"
    assert _network("testclient") == "testclient"
