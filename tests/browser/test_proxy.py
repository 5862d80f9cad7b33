"""The page behind a proxy that adds a prefix to all paths, and with another host name."""

import http.client
import http.server
import threading
import urllib.parse

import pytest

from page import Page

PREFIX = "/games/konane"


class Proxy(http.server.BaseHTTPRequestHandler):
    """Forwards requests below the prefix to `server.target`, without the prefix. Others are errors."""

    def forward(self):
        if not self.path.startswith(f"{PREFIX}/"):
            self.server.outside.append(self.path)
            return self.send_error(404)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        connection = http.client.HTTPConnection(self.server.target, timeout=60)
        connection.request(self.command, self.path.removeprefix(PREFIX), body, dict(self.headers))
        answer = connection.getresponse()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ["connection", "transfer-encoding"]:
                self.send_header(name, value)
        self.end_headers()
        # Events must be forwarded as they arrive.
        while part := answer.read1():
            self.wfile.write(part)
            self.wfile.flush()

    do_GET = do_POST = do_DELETE = forward

    def log_message(self, *_):
        pass


@pytest.fixture
def proxy(start_explorer, files):
    """A proxy on a free port with a host name that the program allows."""
    explorer = start_explorer("--db", files / "db", "--allow-host", "konane.test")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    server.daemon_threads = True
    server.target = urllib.parse.urlsplit(explorer.address).netloc
    server.outside = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_the_page_behind_a_prefix(driver, proxy, host):
    page = Page(driver, f"http://{host}:{proxy.server_port}{PREFIX}/")
    page.reset()
    page.open("game=konane&board=4x4&moves=a4,a3")
    page.click(".move")
    page.settled(3)
    # A POST request with JSON, and an event stream.
    page.button("Set up a position").click()
    page.wait(lambda: page.one(".setup .primary").get_attribute("aria-disabled") is None)
    page.button("Cancel").click()
    page.open("game=konane&board=8x8&tab=search")
    page.button("Start").click()
    page.says(".facts", "To prove a win")
    page.button("Stop").click()
    page.says(".result", "unknown (interrupted)")
    # A picture.
    page.open("game=sprouts&pos=0*3")
    page.wait(lambda: page.script("return document.querySelector('.paper img').naturalWidth"))
    driver.get("about:blank")
    assert page.console() == []
    assert proxy.outside == []


def test_allowed_host_names(proxy):
    for host, status in [("konane.test", 200), ("konane.test:8443", 200), ("other.test", 403)]:
        connection = http.client.HTTPConnection("127.0.0.1", proxy.server_port, timeout=60)
        connection.request("GET", f"{PREFIX}/api/v1/version", headers={"Host": host})
        assert connection.getresponse().status == status, host
