//===- DiskCache.cpp - the compiler's cache on disk -----------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DiskCache.h"
#include "SHA256.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace relax_rt;

namespace {

constexpr size_t kDigestBytes = 32, kLengthBytes = 8;
constexpr uint64_t kLimit = uint64_t(1) << 30;

/// Empty where there is none.
std::string folder() {
  if (const char *named = std::getenv("RELAX_CACHE_DIR"))
    return named;
  const char *caches = std::getenv("XDG_CACHE_HOME");
  if (caches && *caches)
    return std::string(caches) + "/relax-mlir";
  const char *home = std::getenv("HOME");
  return home && *home ? std::string(home) + "/.cache/relax-mlir" : "";
}

/// What is no number is left to the compiler to refuse.
uint64_t readLimit() {
  const char *text = std::getenv("RELAX_CACHE_BYTES");
  if (!text || !*text || text[std::strspn(text, "0123456789")])
    return kLimit;
  return std::strtoull(text, nullptr, 10);
}

bool readFile(const std::string &path, std::string &content) {
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return false;
  struct stat status;
  bool isRead = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  content.resize(isRead ? status.st_size : 0);
  for (size_t at = 0; isRead && at < content.size();) {
    ssize_t count = ::read(file, &content[at], content.size() - at);
    isRead = count > 0;
    at += isRead ? count : 0;
  }
  close(file);
  return isRead;
}

bool makeFolders(const std::string &path) {
  for (size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    std::string parent = path.substr(0, at);
    if (mkdir(parent.c_str(), 0777) && errno != EEXIST)
      return false;
    if (at == std::string::npos)
      return true;
  }
}

std::array<uint8_t, kDigestBytes> digestOf(const char *data, size_t bytes) {
  SHA256 hash;
  hash.update(data, bytes);
  return hash.finish();
}

std::string describe(const char *kind) {
  return std::string("{\"kind\": \"") + kind + "\"}";
}

/// Removes what has not been used for longest, where there is too much.
void shrink(const std::string &where) {
  struct Entry {
    int64_t time;
    uint64_t bytes;
    std::string path;
  };
  std::vector<Entry> entries;
  uint64_t total = 0, limit = readLimit();
  DIR *directory = opendir(where.c_str());
  if (!directory)
    return;
  while (dirent *entry = readdir(directory)) {
    std::string path = where + "/" + entry->d_name;
    struct stat status;
    if (stat(path.c_str(), &status) || !S_ISREG(status.st_mode))
      continue;
    int64_t time =
        int64_t(status.st_mtim.tv_sec) * 1000000000 + status.st_mtim.tv_nsec;
    entries.push_back({time, uint64_t(status.st_size), path});
    total += status.st_size;
  }
  closedir(directory);
  std::sort(entries.begin(), entries.end(),
            [](const Entry &a, const Entry &b) { return a.time < b.time; });
  for (const Entry &entry : entries) {
    if (total <= limit)
      break;
    unlink(entry.path.c_str());
    total -= entry.bytes;
  }
}

} // namespace

bool DiskCache::isEnabled() { return !folder().empty(); }

bool DiskCache::read(const char *kind, const std::string &key,
                     std::string &data) {
  std::string path = folder() + "/" + key, content;
  std::string description = describe(kind);
  size_t front = kDigestBytes + kLengthBytes + description.size();
  if (!readFile(path, content) || content.size() <= front)
    return false;
  auto digest =
      digestOf(content.data() + kDigestBytes, content.size() - kDigestBytes);
  if (memcmp(digest.data(), content.data(), kDigestBytes) != 0 ||
      memcmp(description.data(), content.data() + kDigestBytes + kLengthBytes,
             description.size()) != 0)
    return false;
  utimensat(AT_FDCWD, path.c_str(), nullptr, 0); // it has been used
  data = content.substr(front);
  return true;
}

void DiskCache::write(const char *kind, const std::string &key,
                      const void *data, size_t bytes) {
  std::string where = folder();
  if (!makeFolders(where))
    return;
  std::string content(kDigestBytes, '\0');
  std::string description = describe(kind);
  uint64_t length = description.size();
  for (size_t i = 0; i < kLengthBytes; ++i)
    content += static_cast<char>(length >> (8 * i));
  content += description;
  content.append(static_cast<const char *>(data), bytes);
  auto digest =
      digestOf(content.data() + kDigestBytes, content.size() - kDigestBytes);
  memcpy(&content[0], digest.data(), kDigestBytes);
  // A reader never sees half an entry.
  std::string temporary = where + "/.XXXXXX";
  int file = mkstemp(&temporary[0]);
  if (file < 0)
    return;
  bool isWritten = true;
  for (size_t at = 0; isWritten && at < content.size();) {
    ssize_t count = ::write(file, &content[at], content.size() - at);
    isWritten = count > 0;
    at += isWritten ? count : 0;
  }
  close(file);
  if (!isWritten || rename(temporary.c_str(), (where + "/" + key).c_str())) {
    unlink(temporary.c_str());
    return;
  }
  shrink(where);
}
