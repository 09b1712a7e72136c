// google/robotstxt behind two plain functions, for google.rs: one parses, one decides.

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "robots.h"

namespace {

// The least that a handler can do and still need every event: it adds up the lengths of values.
class Values : public googlebot::RobotsParseHandler {
 public:
  void HandleRobotsStart() override {}
  void HandleRobotsEnd() override {}
  void HandleUserAgent(int, absl::string_view value) override { octets += value.size(); }
  void HandleAllow(int, absl::string_view value) override { octets += value.size(); }
  void HandleDisallow(int, absl::string_view value) override { octets += value.size(); }
  void HandleSitemap(int, absl::string_view value) override { octets += value.size(); }
  void HandleUnknownAction(int, absl::string_view, absl::string_view value) override {
    octets += value.size();
  }

  size_t octets = 0;
};

}  // namespace

extern "C" size_t google_parse(const char* file, size_t file_octets) {
  Values values;
  googlebot::ParseRobotsTxt(absl::string_view(file, file_octets), &values);
  return values.octets;
}

// The strings are made here, as whoever calls this interface has to make them.
extern "C" bool google_allows(const char* file, size_t file_octets, const char* agent,
                              size_t agent_octets, const char* url, size_t url_octets) {
  googlebot::RobotsMatcher matcher;
  return matcher.OneAgentAllowedByRobots(absl::string_view(file, file_octets),
                                         std::string(agent, agent_octets),
                                         std::string(url, url_octets));
}
