#pragma once

/// The benches of the GPU path: commands of the programs in tools/gpu_check, each with its
/// own arguments behind its name in argv[0]. They print Markdown and return an exit status; what is
/// wrong is thrown as an Error. All but `feeding`, `processing` and those of LibTorch, which have a
/// trial on the CPU, need a GPU.
namespace headrace::device_bench {

int transforms(int argc, char** argv);
int volumes(int argc, char** argv);
int feeding(int argc, char** argv);
int decoding(int argc, char** argv);
int direct_reads(int argc, char** argv);
int processing(int argc, char** argv);
int statistics(int argc, char** argv);

/// Of the program gpu_check_torch, which needs LibTorch.
int training(int argc, char** argv);
int evaluating(int argc, char** argv);

}  // namespace headrace::device_bench
