#include "learn/view/http/http_server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/foreign_error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/text.hpp"
#include "headrace/core/threads.hpp"
#include "learn/view/http/new_connections.hpp"
#include "learn/view/http/work_queue.hpp"

namespace headrace::view {
namespace {

constexpr unsigned kMostConnections = 1000;
constexpr std::size_t kConnectionMemory = std::size_t{32} << 10;  // its headers must fit
constexpr unsigned kIdleSeconds = 60;
constexpr std::chrono::seconds kHeaderTime{10};  ///< until a connection has shown that it may ask

/// Sent with everything: nothing foreign may be loaded, nothing of a patient may stay in a
/// browser's cache on disk.
constexpr std::pair<const char*, const char*> kHeaders[] = {
    {"Content-Security-Policy",
     "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; worker-src "
     "'self' blob:; script-src 'self' 'wasm-unsafe-eval'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"X-Frame-Options", "SAMEORIGIN"},
    {"Cache-Control", "no-store"}};

/// One request, from its headers to the end of its response.
struct Call {
  MHD_Connection* connection = nullptr;
  HttpRequest request;
  HttpResponse response;
  bool answered = false;  ///< written before the connection is resumed, which orders it
};

using Pairs = std::map<std::string, std::string>;

MHD_Result collect(void* to, MHD_ValueKind kind, const char* name, const char* value) {
  const bool header = kind == MHD_HEADER_KIND;
  (*static_cast<Pairs*>(to))[header ? lowered(name) : name] = value == nullptr ? "" : value;
  return MHD_YES;
}

/// Escapes in paths are decoded part by part, after they were split (path_parts).
std::size_t keep_escapes(void*, MHD_Connection*, char* text) { return std::strlen(text); }

HttpRequest request_of(MHD_Connection* connection, const char* path, const char* method) {
  HttpRequest request;
  const std::string_view name = method;
  request.method = name == "HEAD" ? HttpMethod::get : value_named<HttpMethod>(name);
  request.path = path;
  MHD_get_connection_values(connection, MHD_HEADER_KIND, collect, &request.headers);
  MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, collect, &request.query);
  MHD_get_connection_values(connection, MHD_COOKIE_KIND, collect, &request.cookies);
  return request;
}

/// Why a body can't be taken; nothing where it can.
std::optional<HttpResponse> body_problem(const HttpRequest& request, std::size_t most) {
  if (!request.header("transfer-encoding").empty())
    return error_response(411, "A body must state its Content-Length.");
  const std::string length = request.header("content-length");
  if (length.empty()) return std::nullopt;
  std::uint64_t bytes = 0;
  const auto [end, problem] = std::from_chars(length.data(), length.data() + length.size(), bytes);
  if (problem == std::errc::result_out_of_range || bytes > most)
    return error_response(413, fmt::format("A body may have {} bytes at most.", most));
  if (problem != std::errc{} || end != length.data() + length.size())
    return error_response(400, "Content-Length is not a number.");
  return std::nullopt;
}

void release_body(void* body) { delete static_cast<std::shared_ptr<const Bytes>*>(body); }

/// The response's memory is shared with the cache and freed when the slowest reader has it.
MHD_Result queue(MHD_Connection* connection, const HttpResponse& from) {
  auto* body = new std::shared_ptr<const Bytes>(from.body);
  MHD_Response* response = MHD_create_response_from_buffer_with_free_callback_cls(
      (*body)->size(), const_cast<std::byte*>((*body)->data()), release_body, body);
  if (response == nullptr) {
    delete body;
    return MHD_NO;
  }
  MHD_add_response_header(response, "Content-Type", from.type.c_str());
  for (const auto& [name, value] : kHeaders) MHD_add_response_header(response, name, value);
  for (const auto& [name, value] : from.headers)
    MHD_add_response_header(response, name.c_str(), value.c_str());
  const MHD_Result result =
      MHD_queue_response(connection, static_cast<unsigned>(from.status), response);
  MHD_destroy_response(response);
  return result;
}

/// A socket address of a numeric address.
struct Address {
  sockaddr_storage storage{};
  bool six = false;

  Address(const std::string& text, int port) {
    auto* four_part = reinterpret_cast<sockaddr_in*>(&storage);
    auto* six_part = reinterpret_cast<sockaddr_in6*>(&storage);
    const auto net_port = htons(static_cast<std::uint16_t>(port));
    if (inet_pton(AF_INET, text.c_str(), &four_part->sin_addr) == 1) {
      four_part->sin_family = AF_INET;
      four_part->sin_port = net_port;
    } else if (inet_pton(AF_INET6, text.c_str(), &six_part->sin6_addr) == 1) {
      six = true;
      six_part->sin6_family = AF_INET6;
      six_part->sin6_port = net_port;
    } else {
      fail(ErrorCode::usage, "{} {}: is not a numeric address, such as 127.0.0.1", Option{"bind"},
           text);
    }
  }
};

/// Descriptors are also needed for files.
unsigned connection_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return kMostConnections / 4;
  return static_cast<unsigned>(std::min<rlim_t>(kMostConnections, limit.rlim_cur / 2));
}

/// A socket that listens. Errors: usage, io.
int listening_socket(const HttpServerOptions& options) {
  const Address address(options.bind, options.port);
  const int family = address.six ? AF_INET6 : AF_INET;
  const socklen_t size = address.six ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  const int socket = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int yes = 1;
  if (socket >= 0) setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (socket < 0 || bind(socket, reinterpret_cast<const sockaddr*>(&address.storage), size) != 0 ||
      listen(socket, SOMAXCONN) != 0) {
    const int error = errno;
    if (socket >= 0) close(socket);
    fail(ErrorCode::io, "{}, port {}: can't be listened on ({}); name another port, or 0 ({})",
         options.bind, options.port, std::strerror(error), Option{"port"});
  }
  return socket;
}

int socket_of(MHD_Connection* connection) {
  const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info == nullptr ? -1 : info->connect_fd;
}

int port_of(int socket) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return 0;
  return ntohs(storage.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port
                   : reinterpret_cast<const sockaddr_in*>(&storage)->sin_port);
}

}  // namespace

struct HttpServer::State {
  explicit State(const HttpServerOptions& o)
      : options(o),
        socket(listening_socket(o)),
        port(port_of(socket)),
        workers(o.threads > 0 ? o.threads : std::max(2, available_cores())),
        strangers(connection_limit() / 2, kHeaderTime) {}

  MHD_Result on_request(MHD_Connection* connection, const char* path, const char* method,
                        const char* upload, std::size_t* upload_size, Call*& call);
  MHD_Result begin(MHD_Connection* connection, const char* path, const char* method, Call*& call);
  void hand_to_worker(Call& call);
  void start();

  static MHD_Result request_callback(void* state, MHD_Connection* connection, const char* path,
                                     const char* method, const char*, const char* upload,
                                     std::size_t* upload_size, void** context) {
    return static_cast<State*>(state)->on_request(connection, path, method, upload, upload_size,
                                                  reinterpret_cast<Call*&>(*context));
  }
  static void connection_callback(void* state, MHD_Connection* connection, void**,
                                  MHD_ConnectionNotificationCode what) {
    NewConnections& strangers = static_cast<State*>(state)->strangers;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) strangers.opened(socket_of(connection));
    if (what == MHD_CONNECTION_NOTIFY_CLOSED) strangers.closed(socket_of(connection));
  }
  static void completed_callback(void*, MHD_Connection*, void** context,
                                 MHD_RequestTerminationCode) {
    delete static_cast<Call*>(*context);
    *context = nullptr;
  }

  const HttpServerOptions options;
  const int socket;
  const int port;
  Gate gate;
  Handler handler;
  MHD_Daemon* daemon = nullptr;
  // libmicrohttpd's own pool of threads would let a connection wait for another one's slow slide
  // although threads are idle: each of its threads owns some of the connections. So one thread has
  // all of them, and a connection is suspended while one of ours makes its answer.
  WorkQueue workers;
  NewConnections strangers;
};

MHD_Result HttpServer::State::begin(MHD_Connection* connection, const char* path,
                                    const char* method, Call*& call) {
  call = new Call;
  call->connection = connection;
  call->request = request_of(connection, path, method);
  auto early = gate(call->request);
  if (!early || early->status < 400) strangers.admitted(socket_of(connection));
  if (!early) early = body_problem(call->request, options.most_body_bytes);
  return early ? queue(connection, *early) : MHD_YES;
}

MHD_Result HttpServer::State::on_request(MHD_Connection* connection, const char* path,
                                         const char* method, const char* upload,
                                         std::size_t* upload_size, Call*& call) {
  if (call == nullptr) return begin(connection, path, method, call);
  if (*upload_size > 0) {
    call->request.body.append(upload, *upload_size);
    *upload_size = 0;
    return call->request.body.size() <= options.most_body_bytes ? MHD_YES : MHD_NO;
  }
  if (call->answered) return queue(connection, call->response);
  MHD_suspend_connection(connection);
  hand_to_worker(*call);
  return MHD_YES;
}

void HttpServer::State::hand_to_worker(Call& call) {
  workers.add([this, &call](bool stopping) {
    try {
      call.response =
          stopping ? error_response(503, "The server is stopping.") : handler(call.request);
    } catch (const std::exception& error) {
      const auto known = error_from(error);
      call.response = error_response(500, known ? known->what() : error.what());
    }
    call.answered = true;
    MHD_resume_connection(call.connection);
  });
}

void HttpServer::State::start() {
  errno = 0;
  daemon = MHD_start_daemon(
      MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_SUSPEND_RESUME, static_cast<std::uint16_t>(port),
      nullptr, nullptr, &State::request_callback, this, MHD_OPTION_LISTEN_SOCKET, socket,
      MHD_OPTION_CONNECTION_LIMIT, connection_limit(), MHD_OPTION_CONNECTION_MEMORY_LIMIT,
      kConnectionMemory, MHD_OPTION_CONNECTION_TIMEOUT, kIdleSeconds, MHD_OPTION_NOTIFY_COMPLETED,
      &State::completed_callback, nullptr, MHD_OPTION_NOTIFY_CONNECTION,
      &State::connection_callback, this, MHD_OPTION_UNESCAPE_CALLBACK, &keep_escapes, nullptr,
      MHD_OPTION_END);
  if (daemon == nullptr)
    fail(ErrorCode::io, "the server can't be started: {}", std::strerror(errno));
}

HttpServer::HttpServer(const HttpServerOptions& options)
    : state_(std::make_unique<State>(options)) {}

HttpServer::~HttpServer() {
  while (!stop(1)) {
  }
  if (state_->daemon != nullptr) {
    MHD_stop_daemon(state_->daemon);  // closes the socket
  } else {
    close(state_->socket);
  }
}

int HttpServer::port() const noexcept { return state_->port; }

void HttpServer::serve(Gate gate, Handler handler) {
  state_->gate = std::move(gate);
  state_->handler = std::move(handler);
  state_->start();
}

bool HttpServer::stop(double seconds) { return state_->workers.stop(seconds); }

}  // namespace headrace::view
