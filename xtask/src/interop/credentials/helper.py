#!/usr/bin/env python3
"""A docker credential helper that keeps its logins in a file: get, store, erase and list, by docker's protocol.

The file is HELPER_FOLDER/logins.json; every call leaves a line `ACTION SERVER` in HELPER_FOLDER/calls.
"""

import json
import os
import pathlib
import sys

NOT_FOUND = "credentials not found in native keychain"
FOLDER = pathlib.Path(os.environ["HELPER_FOLDER"])
LOGINS = FOLDER / "logins.json"


def read():
    return json.loads(LOGINS.read_text()) if LOGINS.exists() else {}


def write(logins):
    LOGINS.touch(mode=0o600)
    LOGINS.write_text(json.dumps(logins, indent=2, sort_keys=True))


def fail(text):
    print(text)
    sys.exit(1)


def get(text):
    server = text.strip()
    if not server:
        fail("no credentials server URL")
    login = read().get(server)
    if login is None:
        fail(NOT_FOUND)
    print(json.dumps({"ServerURL": server, **login}))


def store(text):
    login = json.loads(text)
    if not login.get("ServerURL"):
        fail("no credentials server URL")
    if not login.get("Username"):
        fail("no credentials username")
    write(read() | {login["ServerURL"]: {"Username": login["Username"], "Secret": login["Secret"]}})


def erase(text):
    logins = read()
    if logins.pop(text.strip(), None) is None:
        fail(NOT_FOUND)
    write(logins)


def listed(_text):
    print(json.dumps({server: login["Username"] for server, login in read().items()}))


ACTIONS = {"get": get, "store": store, "erase": erase, "list": listed}


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in ACTIONS:
        fail("usage: docker-credential-NAME get|store|erase|list")
    action = sys.argv[1]
    FOLDER.mkdir(parents=True, exist_ok=True)
    text = "" if action == "list" else sys.stdin.read()
    server = json.loads(text).get("ServerURL", "") if action == "store" else text.strip()
    with (FOLDER / "calls").open("a") as calls:
        calls.write(f"{action} {server}".rstrip() + "\n")
    ACTIONS[action](text)


main()
