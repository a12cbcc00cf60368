#pragma once

/// The benches of the GPU path: commands of the program gpu_check (tools/gpu_check), each with its
/// own arguments behind its name in argv[0]. They print Markdown and return an exit status; what is
/// wrong is thrown as an Error. All but `feeding` and `processing`, which have a trial on the CPU,
/// need a GPU.
namespace headrace::device_bench {

int transforms(int argc, char** argv);
int volumes(int argc, char** argv);
int feeding(int argc, char** argv);
int decoding(int argc, char** argv);
int direct_reads(int argc, char** argv);
int processing(int argc, char** argv);
int statistics(int argc, char** argv);

}  // namespace headrace::device_bench
