"""The peak of resident memory of a program."""
import subprocess
import sys

# Across exec the system keeps the peak of the process as it was before. So the program must not be a child of the tests' own
# process, which may have held more: it is the child of a small one.
STARTER = """
import resource, subprocess, sys
limit, seconds, *command = sys.argv[1:]
if int(limit) >= 0:
    resource.setrlimit(resource.RLIMIT_DATA, (int(limit), int(limit)))
done = subprocess.run(command, stdout=subprocess.DEVNULL, timeout=int(seconds))
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(done.returncode if done.returncode >= 0 else 128 - done.returncode)
"""


def peak_memory(command, data_limit=-1, seconds=300):
    """Bytes. data_limit: of private memory, in bytes, which the system enforces without rights or cgroups."""
    done = subprocess.run([sys.executable, "-ISc", STARTER, str(data_limit), str(seconds), *map(str, command)], capture_output=True,
                          text=True, timeout=seconds + 60)
    assert done.returncode == 0, done.stderr[-2000:]
    return int(done.stdout) * 1024
