"""Golden plans of network_plan_test.cpp, by nnU-Net itself: get_pool_and_conv_props with edges of 4 and any number of halvings.

Run: python3 tests/learn/config/golden/network_plans.py FOLDER_OF_nnUNet > tests/learn/config/golden/network_plans.hpp (numpy; made with
MIC-DKFZ/nnUNet at 0e49508). Plans of more than eight levels are left out, and patches for which that code fails: it takes the spacing of the
axes that can still be halved for that of all axes.
"""
import importlib.util
import random
import sys

CHOSEN = [((1, 1, 1), (96, 96, 96)), ((5, 0.78, 0.78), (16, 320, 320)), ((2.5, 0.8, 0.8), (64, 160, 160)), ((3, 1, 1), (40, 192, 160)),
          ((10, 1.25, 1.25), (14, 256, 224)), ((1.5, 1.5, 1.5), (128, 128, 128)), ((1, 3, 1), (64, 64, 64)), ((4, 1, 1), (8, 64, 64)),
          ((6, 1, 2), (24, 96, 48)), ((2, 1, 1), (32, 32, 32)), ((1.999, 1, 1), (32, 32, 32)), ((1, 1, 1), (8, 8, 8)), ((1, 1), (512, 512)),
          ((1, 1), (64, 256)), ((1, 1), (48, 16)), ((8, 1, 1), (96, 16, 16)), ((5, 1, 1), (24, 24, 24))]
EDGES = (8, 12, 16, 20, 24, 32, 40, 48, 56, 64, 80, 96, 100, 128, 160, 192, 256)


def cases():
    yield from CHOSEN
    rng = random.Random(20261122)
    for _ in range(100):
        axes = rng.choice((2, 3, 3, 3))
        yield (tuple(round(rng.choice((1, 1, 2, 3, 5)) * rng.uniform(0.5, 1.5), 2) for _ in range(axes)),
               tuple(rng.choice(EDGES) for _ in range(axes)))


def text(levels):
    return ";".join(",".join(str(int(value)) for value in level) for level in levels)


def rows(plan):
    for spacing, patch in cases():
        try:
            _, strides, kernels, padded, _ = plan(spacing, patch, 4, 999999)
        except IndexError:
            continue
        if len(strides) <= 8:
            yield "|".join((",".join(map(str, spacing)), text([patch]), text(strides), text(kernels), text([padded])))


if __name__ == "__main__":
    path = sys.argv[1] + "/nnunetv2/experiment_planning/experiment_planners/network_topology.py"
    spec = importlib.util.spec_from_file_location("network_topology", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    print("#pragma once\n\nnamespace headrace::config {\n")
    print("/// Printed by golden/network_plans.py: spacing|patch|strides by level|kernels by level|the next\n/// patch that can be divided.")
    print('inline constexpr const char* kNetworkPlans = R"(')
    print("\n".join(rows(module.get_pool_and_conv_props)))
    print(')";\n\n}  // namespace headrace::config')
