// Preloaded into BMv2: whoever asks to listen on all addresses listens on loopback.
//
// BMv2's Thrift server has no option for its address (TServerSocket(port)); everything else is asked for by address.

#include <dlfcn.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

extern "C" int bind(int fd, const sockaddr* address, socklen_t length) {
  static const auto next = reinterpret_cast<int (*)(int, const sockaddr*, socklen_t)>(dlsym(RTLD_NEXT, "bind"));
  sockaddr_storage changed{};
  if (length > sizeof(changed)) {
    return next(fd, address, length);
  }
  std::memcpy(&changed, address, length);
  if (changed.ss_family == AF_INET) {
    auto* v4 = reinterpret_cast<sockaddr_in*>(&changed);
    if (v4->sin_addr.s_addr == htonl(INADDR_ANY)) {
      v4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    }
  } else if (changed.ss_family == AF_INET6) {
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&changed);
    if (IN6_IS_ADDR_UNSPECIFIED(&v6->sin6_addr)) {
      // ::ffff:127.0.0.1, so that clients of either family that name loopback by 127.0.0.1 get through.
      const unsigned char mapped[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1};
      std::memcpy(&v6->sin6_addr, mapped, sizeof(mapped));
    }
  }
  return next(fd, reinterpret_cast<const sockaddr*>(&changed), length);
}
