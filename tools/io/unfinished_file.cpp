// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/io/unfinished_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ostream>
#include <random>
#include <streambuf>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace tokkos::tools {

namespace {

namespace fs = std::filesystem;

// What the signal handler removes: it can use neither locks nor memory that is managed.
char doomed_path[PATH_MAX];
std::atomic<bool> is_doomed{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void doom(const fs::path& path) {
  if (is_doomed || path.native().size() >= sizeof(doomed_path)) return;
  std::strcpy(doomed_path, path.c_str());
  is_doomed = true;
}

void pardon(const fs::path& path) {
  if (is_doomed && path == doomed_path) is_doomed = false;
}

extern "C" void remove_and_end(int signal) {
  if (is_doomed) unlink(doomed_path);
  std::signal(signal, SIG_DFL);
  std::raise(signal);  // takes effect when the handler returns
}

[[noreturn]] void fail(int error) {
  throw std::system_error(error, std::generic_category());
}

std::string random_name() {
  std::random_device random;
  char name[48];
  std::snprintf(name, sizeof(name), ".tokkos-unfinished-%08x%08x", random(), random());
  return name;
}

/// Writes to a descriptor; remembers why that failed.
class DescriptorBuffer : public std::streambuf {
 public:
  explicit DescriptorBuffer(int descriptor) : m_descriptor(descriptor), m_block(1 << 16) {
    setp(m_block.data(), m_block.data() + m_block.size());
  }
  int error() const { return m_error; }

 protected:
  int_type overflow(int_type next) override {
    if (sync() != 0) return traits_type::eof();
    if (!traits_type::eq_int_type(next, traits_type::eof())) {
      sputc(traits_type::to_char_type(next));
    }
    return traits_type::not_eof(next);
  }
  int sync() override {
    const char* begin = pbase();
    while (begin < pptr() && m_error == 0) {
      const ssize_t bytes = ::write(m_descriptor, begin, static_cast<std::size_t>(pptr() - begin));
      if (bytes >= 0) begin += bytes;
      if (bytes < 0 && errno != EINTR) m_error = errno;
    }
    setp(m_block.data(), m_block.data() + m_block.size());
    return m_error == 0 ? 0 : -1;
  }

 private:
  int m_descriptor;
  int m_error = 0;
  std::vector<char> m_block;
};

}  // namespace

UnfinishedFile::UnfinishedFile(const fs::path& folder, const fs::path& replaced) {
  struct stat old {};
  if (stat(replaced.c_str(), &old) == 0) m_mode = old.st_mode & 07777u;
  constexpr unsigned all = 0666;    // less the umask
  constexpr unsigned owner = 0600;  // until it has the permissions of the one that it replaces
  create(folder, m_mode ? owner : all);
}

UnfinishedFile::~UnfinishedFile() {
  if (m_descriptor >= 0) close(m_descriptor);
  if (m_path.empty()) return;
  unlink(m_path.c_str());
  pardon(m_path);
}

void UnfinishedFile::create(const fs::path& folder, unsigned mode) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    m_path = folder / random_name();
    doom(m_path);  // first, so that no signal comes between
    m_descriptor = open(m_path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (m_descriptor >= 0) return;
    const int error = errno;
    pardon(m_path);
    if (error != EEXIST) fail(error);
  }
  fail(EEXIST);
}

void UnfinishedFile::write(const std::function<void(std::ostream&)>& content) {
  DescriptorBuffer buffer(m_descriptor);
  std::ostream stream(&buffer);
  content(stream);
  stream.flush();
  if (!stream) fail(buffer.error() != 0 ? buffer.error() : EIO);
  // Last, because writes take bits away; not every file system has permissions to set.
  if (m_mode) static_cast<void>(fchmod(m_descriptor, *m_mode));
  if (close(std::exchange(m_descriptor, -1)) != 0) fail(errno);
}

void UnfinishedFile::rename(const fs::path& place) {
  fs::rename(m_path, place);
  pardon(m_path);
  m_path.clear();
}

void remove_unfinished_file_on_signals() {
  std::signal(SIGXFSZ, SIG_IGN);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = remove_and_end;
    sigaction(number, &action, nullptr);
  }
}

}  // namespace tokkos::tools
