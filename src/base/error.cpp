#include <holdfast/error.hpp>

namespace holdfast {
namespace {

const char* sentence(errc code) noexcept {
  switch (code) {
    case errc::timeout:
      return "the wait ended before the resource was free";
    case errc::canceled:
      return "the wait was canceled";
    case errc::lost:
      return "the lease is lost";
    case errc::unavailable:
      return "the store cannot be reached or cannot work now";
    case errc::unknown:
      return "the store gave no answer: the outcome is unknown";
    case errc::unsupported:
      return "this store cannot do that";
    case errc::denied:
      return "the store refused: permissions or credentials";
    case errc::misconfigured:
      return "the store or the request is set up in a way that cannot be safe";
    case errc::bad_name:
      return "the resource name is not valid";
    case errc::bad_url:
      return "the store URL is not valid";
    case errc::bad_argument:
      return "an argument is out of its range";
    case errc::closed:
      return "the client is closed";
    case errc::conflict:
      return "the cell has another version than expected";
  }
  return "unknown holdfast error";
}

class Category final : public std::error_category {
 public:
  constexpr Category() noexcept = default;
  [[nodiscard]] const char* name() const noexcept override { return "holdfast"; }
  [[nodiscard]] std::string message(int value) const override { return sentence(errc{value}); }
};

// Never destroyed: a static object of the user may still meet an error while the process exits.
union Forever {
  Category category{};
  constexpr Forever() noexcept {}
  ~Forever() {}
};
constinit Forever forever;

}  // namespace

const std::error_category& error_category() noexcept { return forever.category; }

Error::Error(errc code, const std::string& words)
    : std::system_error(make_error_code(code), words), words_(words) {}

}  // namespace holdfast
