"""Serves the files of a folder over HTTPS on 127.0.0.1 until it is ended: what a host publishes, by a server that is
not ours.

python3 https_server.py FOLDER CERTIFICATE KEY LOG

A file NAME is sent with the content type that the file NAME.type holds, else with the one that http.server guesses.
Its port is printed once it listens. LOG gets a line for every connection and one for every request.
"""

import functools
import http.server
import os
import ssl
import sys


class Handler(http.server.SimpleHTTPRequestHandler):
    def guess_type(self, path):
        try:
            with open(path + ".type", encoding="utf-8") as file:
                return file.read().strip()
        except FileNotFoundError:
            return super().guess_type(path)

    def log_request(self, code="-", size="-"):
        write(f"{self.command} {self.path} {int(code)}")

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    def get_request(self):
        connection, address = self.socket.accept()
        write("connection")
        # The handshake belongs to the thread of the connection, not to this one.
        return context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False), address

    def handle_error(self, *_):
        pass


def write(line):
    os.write(log, (line + "\n").encode())


folder, certificate, key, log = sys.argv[1:]
log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
server = Server(("127.0.0.1", 0), functools.partial(Handler, directory=folder))
print(server.server_address[1], flush=True)
server.serve_forever()
