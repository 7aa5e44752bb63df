#include "cli/tls_options.h"

#include "cli/option_table.h"

namespace ferrox {

void add_tls_options(CLI::App& app, TlsTrust& trust, const std::string& group) {
  app.add_option("--cacert", trust.ca_file,
                 "certificates, PEM, of those who may have signed an https server's; otherwise the system's")
      ->check(not_empty())
      ->group(group);
  app.add_flag("--insecure", trust.is_blind, "believe any https server, whatever its certificate")->group(group);
}

Result<void> check_tls_options(const TlsTrust& trust, const HttpUrl& url) {
  if (trust.is_blind && !trust.ca_file.empty()) {
    return make_error(ErrorCode::kInvalidArgument, "--cacert: expected it without --insecure, found both");
  }
  if (url.is_tls || (!trust.is_blind && trust.ca_file.empty())) return {};
  return make_error(ErrorCode::kInvalidArgument, "{}: expected it beside an https --url, found an http one",
                    trust.is_blind ? "--insecure" : "--cacert");
}

}  // namespace ferrox
