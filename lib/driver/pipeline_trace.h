// What became of each pass of a pipeline, as -explain-pipeline shows it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/pass/context.h"
#include "iropt/pass/observer.h"
#include "iropt/pass/pass.h"

namespace iropt {

// Where the settings of a context come from, for messages.
struct SettingOrigins {
  std::string level;                                           // "-O2", "-O2, the default", ...
  std::function<std::string(std::string_view pass)> disabled;  // "-disable", "p.json:3:14"
  std::function<std::string(std::string_view pass)> required;
};

// Follows one run of a pipeline. The passes keep the shape of the pipeline: what runs in several rounds is one entry
// that counts, so that the size does not depend on the number of rounds.
class Explanation : public PassObserver {
 public:
  Explanation(const PassContext& context, SettingOrigins origins);
  ~Explanation() override;

  void BeginRound() override;
  void Skip(const Pass& pass, SkipReason reason, int level) override;
  void RunRequirement(const Pass& pass, const Pass& requirement) override;
  void SkipFunction(std::string_view function, std::string_view attribute) override;
  void Veto(const Pass& pass, const PassInstrument& by) override;
  void Begin(const Pass& pass) override;
  void End(const Pass& pass, PassOutcome outcome) override;

  // A line for each pass, nested as the pipeline is, and one for each setting about a pass that is none of them.
  // Forgets the run.
  std::string Render();

 private:
  struct Node;
  struct Frame {
    Node* node;
    size_t next = 0;  // the child that comes next in this round
  };

  static std::unique_ptr<Node> MakeNode(const Pass& pass, std::string requirement_of);
  Node& NextNode(const Pass& pass);
  std::string SkipText(const PassInfo& info, SkipReason reason, int level) const;
  std::string Outcome(const Node& node, const std::string& inherited) const;
  std::string RenderAbsent() const;
  void RenderInto(const Node& node, size_t indent, const std::string& inherited, size_t width, std::string& out) const;

  const PassContext& context_;
  SettingOrigins origins_;
  std::unique_ptr<Node> root_;
  std::vector<Frame> running_;
  std::string requirement_of_;  // the pass that requires the next one to begin
};

}  // namespace iropt
