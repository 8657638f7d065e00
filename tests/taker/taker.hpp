#pragma once

#include <sstream>
#include <string>

namespace holdfast::test {

/// Prints one event.
void print_event(const std::string& event);

template <class... Words>
void say(const Words&... words) {
  std::ostringstream line;
  ((line << ' ' << words), ...);
  print_event(line.str());
}

/// Commands, each of which runs on a thread of its own; names hold no spaces:
///
///   acquire NAME TTL_MS WAIT_MS [shared] [permits N LIMIT] [no-renew]
///                             → asking NAME, granted NAME TOKEN VALID_UNTIL_NS, or busy NAME, or
///                             error NAME CODE WORDS
///                               later: lost NAME REASON, jeopardy NAME
///   cancel NAME               ends a wait
///   release NAME              → released NAME OUTCOME
///   renew NAME                → renewed NAME VALID_UNTIL_NS or error NAME CODE WORDS
///   state NAME                → state NAME STATE TOKEN REASON
///   append NAME FILE fenced|unfenced WHO           → written NAME or refused NAME
///   beat NAME FILE PERIOD_MS fenced|unfenced WHO   appends for as long as it believes to hold →
///   beaten NAME COUNT probe NAME                asks for the state without pause until it is lost
///                             → probed NAME VIOLATIONS: times that it said held after valid until,
///                             or after a loss
///   contend NAME FILE COUNT TTL_MS WHO             counter race, for the history:
///                             → tenure NAME WHO TOKEN INVOKED GRANTED BELIEVED UNTIL each, then
///                             done NAME
///   churn NAME TTL_MS         acquires and releases until it is killed
///   quit                      a clean end
int serve(const char* url);

int at_exit(const char* url);
int hold_and_fork(const char* url);
int hold_and_exec(const char* url);
int print_descriptors();

}  // namespace holdfast::test
