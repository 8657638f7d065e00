#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <string>

namespace holdfast::cli {

/// Lays out --help: usage as a person would write it, and texts wrapped to 80 columns.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::string command_usage) : usage_(std::move(command_usage)) {}

  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_description(const CLI::App* app) const override;
  std::string make_positionals(const CLI::App*) const override {
    return {};
  }  // the usage shows them
  std::string make_subcommand(const CLI::App* command) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_footer(const CLI::App* app) const override;

 private:
  std::string usage_;
};

}  // namespace holdfast::cli
