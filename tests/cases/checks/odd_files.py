"""What may not be in a store."""


def no_name_is_stored(store, folder):
    assert b"Jane Doe" in (folder / "in.svs").read_bytes()
    for path in store.rglob("*"):
        assert not path.is_file() or b"Jane Doe" not in path.read_bytes(), path
