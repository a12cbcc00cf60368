"""The files of the project, and the layers of its two halves as headrace/LAYERS states them."""
import subprocess

CODE = (".hpp", ".cpp", ".cu", ".cuh")
MAKES, WORKS = HALVES = ("headrace", "learn")  # what makes batches, which knows nothing of what works with them


def files_of(root):
    """Tracked and new files, as paths relative to root; every file where there is no git."""
    done = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True)
    if done.returncode == 0:
        names = done.stdout.splitlines()
    else:
        names = [str(p.relative_to(root)) for p in root.rglob("*")]
    return sorted(n for n in set(names) if (root / n).is_file())


def rows_of(text):
    """(top folder, layer, layers that it may include) of each row."""
    home = MAKES
    for line in text.splitlines():
        line = line.split("#")[0].strip()
        if line.endswith("/"):
            home = line.rstrip("/")
        elif line:
            layer, _, allowed = line.partition(":")
            yield home, layer.strip(), allowed.split()


def read_layers(root):
    return {layer: allowed for _, layer, allowed in rows_of((root / "headrace/LAYERS").read_text())}


def read_homes(root):
    """{layer: its top folder}"""
    return {layer: home for home, layer, _ in rows_of((root / "headrace/LAYERS").read_text())}


def layer_of(name):
    parts = name.split("/")
    if parts[0] in HALVES and len(parts) > 2:
        return parts[1]
    return "cli" if parts[0] == "cli" else None
