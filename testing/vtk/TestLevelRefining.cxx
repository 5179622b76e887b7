// SPDX-License-Identifier: BSD-3-Clause
// The levels in which a reader of grids refines, without a reader.
#include "IDXNumbers.h"
#include "LevelRefining.h"

#include <gtest/gtest.h>

#include <vector>

namespace
{
using bat_vtk::GridQuestion;
using bat_vtk::LevelRefining;
using bat_vtk::LevelsOfStep;

constexpr int First = 5;
constexpr int Target = 16;

GridQuestion Fields(std::vector<std::size_t> fields, std::uint64_t file = 1)
{
  GridQuestion question;
  question.Generation = file;
  question.Fields = std::move(fields);
  return question;
}

const GridQuestion Everything = Fields({ 0, 1 });

// An update that loads what it has announced.
int Update(LevelRefining& refining, const GridQuestion& question = Everything, int target = Target)
{
  const int level = refining.Choose(question, First, target);
  refining.Begin(question, level);
  refining.Loaded();
  return level;
}

int Step(LevelRefining& refining, const GridQuestion& question = Everything, int target = Target)
{
  refining.AskForStep();
  return Update(refining, question, target);
}

TEST(LevelRefining, steps_go_from_the_first_level_to_the_target_and_no_further)
{
  LevelRefining refining;
  std::vector<int> levels{ Update(refining), Update(refining) };
  while (levels.back() < Target)
  {
    levels.push_back(Step(refining));
  }
  levels.push_back(Step(refining));
  EXPECT_EQ(levels,
    (std::vector<int>{ First, First, First + LevelsOfStep, First + 2 * LevelsOfStep,
      First + 3 * LevelsOfStep, Target, Target }));
}

TEST(LevelRefining, what_an_update_will_load_is_the_same_however_often_it_is_asked)
{
  LevelRefining refining;
  Update(refining);
  refining.AskForStep();
  const int level = refining.Choose(Everything, First, Target);
  EXPECT_EQ(refining.Choose(Everything, First, Target), level);
  EXPECT_EQ(Update(refining), level);
  EXPECT_EQ(refining.Choose(Everything, First, Target), level);
}

TEST(LevelRefining, another_question_begins_anew)
{
  LevelRefining refining;
  Update(refining);
  EXPECT_EQ(Step(refining), First + LevelsOfStep);
  EXPECT_EQ(Update(refining, Fields({ 1 })), First);
  EXPECT_EQ(Update(refining, Fields({ 1 }, 2)), First);
  GridQuestion inBox = Fields({ 1 }, 2);
  inBox.Box = bat::idx::LogicalBox{ { 0, 0, 0 }, { 3, 3, 3 } };
  EXPECT_EQ(Step(refining, inBox), First);
}

TEST(LevelRefining, a_lower_target_is_kept_and_a_higher_one_gone_on_to)
{
  LevelRefining refining;
  EXPECT_EQ(Update(refining, Everything, 3), 3);
  EXPECT_EQ(Update(refining, Everything, Target), First);
  Step(refining);
  EXPECT_EQ(Update(refining, Everything, 6), 6);
}

TEST(LevelRefining, a_step_that_is_put_off_waits_until_it_is_asked_for_again)
{
  LevelRefining refining;
  Update(refining);
  refining.AskForStep();
  refining.Begin(Everything, refining.Choose(Everything, First, Target));
  ASSERT_TRUE(refining.IsStep());
  refining.PutOff();
  EXPECT_TRUE(refining.IsPutOff());
  refining.Cancelled();
  EXPECT_FALSE(refining.IsAborted());
  EXPECT_EQ(Update(refining), First);
  EXPECT_EQ(Step(refining), First + LevelsOfStep);
}

TEST(LevelRefining, only_a_step_can_be_put_off)
{
  LevelRefining refining;
  refining.Begin(Everything, refining.Choose(Everything, First, Target));
  refining.PutOff();
  EXPECT_FALSE(refining.IsPutOff());
}

TEST(LevelRefining, what_was_aborted_is_what_the_next_update_loads)
{
  LevelRefining refining;
  Update(refining);
  refining.AskForStep();
  refining.Begin(Everything, refining.Choose(Everything, First, Target));
  refining.Cancelled();
  EXPECT_TRUE(refining.IsAborted());
  // Refining does not resume by itself.
  refining.AskForStep();
  EXPECT_EQ(Update(refining), First + LevelsOfStep);
  EXPECT_FALSE(refining.IsAborted());
}

TEST(LevelRefining, what_failed_is_tried_again)
{
  LevelRefining refining;
  Update(refining);
  refining.AskForStep();
  refining.Begin(Everything, refining.Choose(Everything, First, Target));
  refining.Failed();
  EXPECT_FALSE(refining.IsAborted());
  EXPECT_EQ(Update(refining), First + LevelsOfStep);
}
}
