"""A web server for the tests of install.sh: serves the folder of the first argument, prints its port.

/truncated/… says the whole length and sends half; /slow/… sends half and waits.
"""
import http.server
import pathlib
import sys
import time

ROOT = pathlib.Path(sys.argv[1])


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        mode, _, rest = self.path.lstrip("/").partition("/")
        file = ROOT / (rest if mode in ("truncated", "slow") else self.path.lstrip("/"))
        if not file.is_file():
            return self.send_error(404)
        body = file.read_bytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if mode in ("truncated", "slow") and file.suffix == ".gz":
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            if mode == "slow":
                (ROOT / "slow-began").touch()
                time.sleep(60)
            return self.connection.close()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(server.server_port, flush=True)
server.serve_forever()
