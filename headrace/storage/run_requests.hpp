#pragma once
#include <cstddef>
#include <functional>

#include "headrace/core/error.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::storage {

/// Begins request i; `done` is called as its own contract says.
using StartRequest = std::function<void(std::size_t i, const ReadDone& done)>;
/// Request i ended with an Error. From any thread, once at most for each; it does not throw.
using RequestFailed = std::function<void(std::size_t i, const Error& error)>;

/// Makes `count` requests, and returns when all have ended. Those of which asynchronous(i) is true
/// (RequestCost::asynchronous) are all begun by this thread; each of the others is made by a thread
/// of the pool, or by this one where it is null.
/// errors   what a request fails with that is no Error, of the lowest i; that of the pool where it was
///          cancelled. What was begun has ended then, too
/// threads  not from a worker of the pool
void run_requests(ThreadPool* pool, std::size_t count,
                  const std::function<bool(std::size_t)>& asynchronous, const StartRequest& start,
                  const RequestFailed& failed);

}  // namespace headrace::storage
