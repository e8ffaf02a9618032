//===- DiskCache.cpp - the compiler's cache on disk -----------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Core/DiskCache.h"
#include "Runtime/Core/SHA256.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace relax_rt;

namespace {

constexpr char kMagic[] = "RELAXC3\n";
constexpr char kEntry[] = ".relax", kPart[] = ".part";
constexpr size_t kMagicBytes = 8, kDigestBytes = 32, kKeyBytes = 64,
                 kLengthBytes = 8;
constexpr uint64_t kLimit = uint64_t(1) << 30;
/// The maximum size of an entry.
constexpr int64_t kMostBytes = int64_t(1) << 32;
/// After this many seconds, partial files count as abandoned.
constexpr int64_t kPartSeconds = 3600;

/// The cache folder; empty if there is none.
std::string folder() {
  if (const char *named = std::getenv("RELAX_CACHE_DIR"))
    return named;
  const char *caches = std::getenv("XDG_CACHE_HOME");
  if (caches && *caches == '/')
    return std::string(caches) + "/relax-mlir";
  const char *home = std::getenv("HOME");
  return home && *home == '/' ? std::string(home) + "/.cache/relax-mlir" : "";
}

/// An invalid number is ignored here; the compiler reports it.
uint64_t readLimit() {
  const char *text = std::getenv("RELAX_CACHE_BYTES");
  if (!text || !*text || text[std::strspn(text, "0123456789")])
    return kLimit;
  return std::strtoull(text, nullptr, 10);
}

/// Whether only this user can have written the file.
bool isTrusted(const struct stat &status) {
  return S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
         !(status.st_mode & (S_IWGRP | S_IWOTH));
}

/// Opens a trusted file; returns -1 otherwise. Does not follow links or block
/// on pipes.
int openTrusted(const std::string &path, struct stat &status) {
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0)
    return -1;
  if (fstat(file, &status) == 0 && isTrusted(status))
    return file;
  close(file);
  return -1;
}

bool readAll(int file, char *data, size_t bytes) {
  for (size_t at = 0; at < bytes;) {
    ssize_t count = ::read(file, data + at, bytes - at);
    if (count <= 0)
      return false;
    at += count;
  }
  return true;
}

bool writeAll(int file, const char *data, size_t bytes) {
  for (size_t at = 0; at < bytes;) {
    ssize_t count = ::write(file, data + at, bytes - at);
    if (count <= 0)
      return false;
    at += count;
  }
  return true;
}

bool readEntry(const std::string &path, std::string &content) {
  struct stat status;
  int file = openTrusted(path, status);
  if (file < 0)
    return false;
  bool isRead = status.st_size <= kMostBytes;
  content.resize(isRead ? status.st_size : 0);
  isRead = isRead && readAll(file, &content[0], content.size());
  if (isRead)
    futimens(file, nullptr); // marks the entry as recently used
  close(file);
  return isRead;
}

/// Whether the file starts with the magic number of entries.
bool isEntry(const std::string &path) {
  struct stat status;
  int file = openTrusted(path, status);
  if (file < 0)
    return false;
  char magic[kMagicBytes];
  bool isRead = readAll(file, magic, kMagicBytes);
  close(file);
  return isRead && memcmp(magic, kMagic, kMagicBytes) == 0;
}

bool makeFolders(const std::string &path) {
  for (size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    std::string parent = path.substr(0, at);
    mode_t mode = at == std::string::npos ? 0700 : 0777;
    if (mkdir(parent.c_str(), mode) && errno != EEXIST)
      return false;
    if (at == std::string::npos)
      return true;
  }
}

/// The header between magic number and data: the digest, the key, and the
/// description, preceded by its length.
std::string makeFront(const char *kind, const std::string &key,
                      const char *data, size_t bytes) {
  std::string description = std::string("{\"kind\": \"") + kind + "\"}";
  std::string front = key;
  for (size_t i = 0; i < kLengthBytes; ++i)
    front += static_cast<char>(uint64_t(description.size()) >> (8 * i));
  front += description;
  SHA256 hash;
  hash.update(front.data(), front.size());
  hash.update(data, bytes);
  auto digest = hash.finish();
  return std::string(digest.begin(), digest.end()) + front;
}

bool endsIn(const std::string &name, const char *end) {
  size_t length = strlen(end);
  return name.size() >= length &&
         name.compare(name.size() - length, length, end) == 0;
}

bool isKey(const std::string &name, size_t at) {
  return name.size() >= at + kKeyBytes &&
         strspn(name.c_str() + at, "0123456789abcdef") >= kKeyBytes;
}

/// "<key>.relax".
bool isEntryName(const std::string &name) {
  return name.size() == kKeyBytes + strlen(kEntry) && isKey(name, 0) &&
         endsIn(name, kEntry);
}

/// ".<key>.<letters>.part".
bool isPartName(const std::string &name) {
  return name[0] == '.' && isKey(name, 1) && name[kKeyBytes + 1] == '.' &&
         endsIn(name, kPart);
}

/// Removes the least recently used entries while the cache is too large, and
/// abandoned partial files.
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
  while (dirent *found = readdir(directory)) {
    std::string name = found->d_name, path = where + "/" + name;
    bool isPart = isPartName(name);
    struct stat status;
    if ((!isPart && !isEntryName(name)) || lstat(path.c_str(), &status) ||
        !isTrusted(status))
      continue;
    if (isPart) {
      if (time(nullptr) - status.st_mtim.tv_sec > kPartSeconds)
        unlink(path.c_str());
      continue;
    }
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
    if (isEntry(entry.path) && unlink(entry.path.c_str()) == 0)
      total -= entry.bytes;
  }
}

} // namespace

bool DiskCache::isEnabled() { return !folder().empty(); }

bool DiskCache::read(const char *kind, const std::string &key,
                     std::string &data) {
  std::string where = folder(), content;
  if (where.empty() || !readEntry(where + "/" + key + kEntry, content))
    return false;
  size_t front = kMagicBytes + makeFront(kind, key, "", 0).size();
  if (content.size() <= front)
    return false;
  std::string expected = kMagic + makeFront(kind, key, content.data() + front,
                                            content.size() - front);
  if (content.compare(0, front, expected) != 0)
    return false;
  data = content.substr(front);
  return true;
}

void DiskCache::write(const char *kind, const std::string &key,
                      const void *data, size_t bytes) {
  std::string where = folder();
  if (where.empty() || !makeFolders(where))
    return;
  auto *begin = static_cast<const char *>(data);
  std::string front = kMagic + makeFront(kind, key, begin, bytes);
  // Written under a temporary name and renamed, so that readers never see a
  // partial entry. The file is new and owned by this user.
  std::string part = where + "/." + key + ".XXXXXX" + kPart;
  int file = mkstemps(&part[0], strlen(kPart));
  if (file < 0)
    return;
  bool isWritten = writeAll(file, front.data(), front.size()) &&
                   writeAll(file, begin, bytes);
  isWritten = close(file) == 0 && isWritten;
  if (!isWritten ||
      rename(part.c_str(), (where + "/" + key + kEntry).c_str())) {
    unlink(part.c_str());
    return;
  }
  shrink(where);
}
