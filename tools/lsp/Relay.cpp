//===- Relay.cpp - messages between an editor and MLIR's server -----------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lsp/Relay.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace mlir;
using namespace mlir::relax;

/// The parser of JSON recurses for each bracket. Messages of the protocol have
/// about ten levels.
static constexpr unsigned kMaxNesting = 200;
/// Of the content of a message, in bytes.
static constexpr size_t kMaxLength = 1 << 30;

static bool isNestedTooDeep(StringRef json) {
  unsigned depth = 0;
  bool inString = false;
  for (size_t i = 0; i < json.size(); ++i) {
    char c = json[i];
    if (inString) {
      if (c == '\\')
        ++i; // the next character is part of the string, whatever it is
      else if (c == '"')
        inString = false;
    } else if (c == '"') {
      inString = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxNesting)
        return true;
    } else if ((c == ']' || c == '}') && depth) {
      --depth;
    }
  }
  return false;
}

namespace {

/// Reads messages from a stream: headers, an empty line and the content; or
/// text up to a line `// -----`.
class MessageReader {
public:
  enum class Form {
    /// Headers only. Other lines are ignored, so a message with a wrong length
    /// does not hide the messages after it.
    Headers,
    /// Text, or headers.
    Any,
    /// `Any` if the first line that is not empty begins a comment or an object,
    /// as the tests of MLIR write messages; otherwise `Headers`.
    ByFirstLine,
  };

  MessageReader(int descriptor, Form form)
      : file(fdopen(descriptor, "rb")), form(form) {}

  struct Message {
    std::string head, content, tail;

    std::string getText() const { return head + content + tail; }
  };

  /// Returns none at the end of the stream, and an empty message for headers
  /// without a content.
  std::optional<Message> read() {
    std::optional<std::string> line = readLine();
    if (!line)
      return std::nullopt;
    chooseForm(*line);
    if (form == Form::Any &&
        !StringRef(*line).starts_with_insensitive("content-"))
      return readText(line);
    size_t length = 0;
    for (; line && !StringRef(*line).trim().empty(); line = readLine())
      readLength(*line, length);
    Message message;
    if (!length)
      return message;
    message.head = makeHead(length);
    if (length > kMaxLength) {
      for (; length && std::fgetc(file) != EOF; --length)
        ;
      return Message();
    }
    message.content.resize(length);
    message.content.resize(std::fread(message.content.data(), 1, length, file));
    return message;
  }

  static std::string makeHead(size_t length) {
    return ("Content-Length: " + Twine(length) + "\r\n\r\n").str();
  }

private:
  void chooseForm(StringRef line) {
    line = line.trim();
    if (form == Form::ByFirstLine && !line.empty())
      form = line.starts_with("//") || line.starts_with("{") ? Form::Any
                                                             : Form::Headers;
  }

  Message readText(std::optional<std::string> line) {
    Message message;
    for (; line && !StringRef(*line).starts_with("// -----"); line = readLine())
      if (!StringRef(*line).starts_with("//")) // a comment
        message.content += *line;
    message.tail = line.value_or("");
    return message;
  }

  /// Sets `length` if the line is its header. After a message with a wrong
  /// length, the line begins with the rest of that message.
  static void readLength(StringRef line, size_t &length) {
    constexpr StringRef kName = "content-length:";
    std::string lower = line.lower();
    if (size_t at = lower.rfind(kName); at != std::string::npos)
      (void)line.drop_front(at + kName.size()).trim().getAsInteger(10, length);
  }

  std::optional<std::string> readLine() {
    char *text = nullptr;
    size_t capacity = 0;
    ssize_t length = getline(&text, &capacity, file);
    std::optional<std::string> line;
    if (length >= 0)
      line.emplace(text, length);
    std::free(text);
    return line;
  }

  std::FILE *file;
  Form form;
};

} // namespace

static void writeAll(int descriptor, StringRef text) {
  while (!text.empty()) {
    ssize_t count = write(descriptor, text.data(), text.size());
    if (count >= 0)
      text = text.drop_front(count);
    else if (errno != EINTR)
      return; // the other side has ended, which its other stream reports
  }
}

namespace {

/// The streams of this process, and of the server.
class Relay {
public:
  Relay(int toServer, int fromServer, Extension &extension)
      : toServer(toServer), fromServer(fromServer), extension(extension) {}

  /// Passes messages of the editor on, until it has no more.
  void readEditor() {
    MessageReader reader(STDIN_FILENO, MessageReader::Form::ByFirstLine);
    while (auto message = reader.read()) {
      if (isNestedTooDeep(message->content)) {
        refuse();
        continue;
      }
      parse(message->content,
            [&](llvm::json::Value &, llvm::json::Object &object) {
              extension.see(object);
            });
      writeAll(toServer, message->getText());
    }
    close(toServer);
  }

  /// Passes answers on, until the server ends.
  void readServer() {
    // It writes its help as text.
    MessageReader reader(fromServer, MessageReader::Form::Any);
    while (auto message = reader.read()) {
      if (!message->head.empty())
        addTo(*message);
      send(message->getText());
    }
  }

private:
  using Message = MessageReader::Message;

  /// Calls `use` on a message that is an object.
  static void
  parse(StringRef content,
        function_ref<void(llvm::json::Value &, llvm::json::Object &)> use) {
    llvm::Expected<llvm::json::Value> value = llvm::json::parse(content);
    if (!value)
      return llvm::consumeError(value.takeError());
    if (llvm::json::Object *object = value->getAsObject())
      use(*value, *object);
  }

  void addTo(Message &message) {
    if (isNestedTooDeep(message.content))
      return;
    parse(message.content, [&](llvm::json::Value &value,
                               llvm::json::Object &answer) {
      if (!extension.extend(answer))
        return;
      // A line break is outside of strings, where it is escaped: the
      // server was asked to indent its answers.
      bool isIndented = StringRef(message.content).contains('\n');
      message.content = llvm::formatv(isIndented ? "{0:2}\n" : "{0}", value);
      message.head = MessageReader::makeHead(message.content.size());
    });
  }

  /// The message is not parsed, so it is unknown which request it is.
  void refuse() {
    std::string reason =
        llvm::formatv("a message has more than {0} levels of brackets; it is "
                      "ignored",
                      kMaxNesting);
    llvm::errs() << "relax-lsp-server: " << reason << "\n";
    llvm::json::Value answer =
        llvm::json::Object{{"jsonrpc", "2.0"},
                           {"id", nullptr},
                           {"error", llvm::json::Object{{"code", kParseError},
                                                        {"message", reason}}}};
    std::string text = llvm::formatv("{0}", answer);
    send(MessageReader::makeHead(text.size()) + text);
  }

  void send(StringRef text) {
    std::lock_guard<std::mutex> lock(sending);
    writeAll(STDOUT_FILENO, text);
  }

  static constexpr int kParseError = -32700; // of JSON-RPC

  int toServer, fromServer;
  Extension &extension;
  std::mutex sending;
};

} // namespace

int relax::runBehindRelay(function_ref<int()> server, Extension &extension) {
  int requests[2], answers[2];
  if (pipe(requests) || pipe(answers))
    llvm::report_fatal_error("relax-lsp-server: pipes cannot be made");
  pid_t child = fork();
  if (child < 0)
    llvm::report_fatal_error("relax-lsp-server: no process can be started");
  if (!child) {
    dup2(requests[0], STDIN_FILENO);
    dup2(answers[1], STDOUT_FILENO);
    for (int descriptor : {requests[0], requests[1], answers[0], answers[1]})
      close(descriptor);
    return server();
  }
  close(requests[0]);
  close(answers[1]);
  std::signal(SIGPIPE, SIG_IGN); // the other side may end at any time
  auto *relay = new Relay(requests[1], answers[0], extension);
  // It may wait for the editor when the server has ended.
  std::thread([=] { relay->readEditor(); }).detach();
  relay->readServer();
  int status = 0;
  waitpid(child, &status, 0);
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE);
}
