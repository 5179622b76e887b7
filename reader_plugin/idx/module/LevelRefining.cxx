// SPDX-License-Identifier: BSD-3-Clause
#include "LevelRefining.h"

#include "IDXNumbers.h"

#include <algorithm>

//------------------------------------------------------------------------------
int bat_vtk::LevelRefining::Choose(const GridQuestion& question, int first, int target) const
{
  int level = first;
  if (this->Last && this->Last->Question == question)
  {
    level = std::max(first, this->Last->Level + (this->WillStep() ? LevelsOfStep : 0));
  }
  return std::min(level, target);
}

//------------------------------------------------------------------------------
void bat_vtk::LevelRefining::Begin(const GridQuestion& question, int level)
{
  StepState::Begin();
  this->Now = { question, level };
}

//------------------------------------------------------------------------------
void bat_vtk::LevelRefining::Loaded()
{
  StepState::Loaded();
  this->Last = this->Now;
}

//------------------------------------------------------------------------------
void bat_vtk::LevelRefining::Cancelled()
{
  StepState::Cancelled();
  if (this->IsAborted())
  {
    this->Last = this->Now;
  }
}

//------------------------------------------------------------------------------
void bat_vtk::LevelRefining::Failed()
{
  StepState::Failed();
  this->Last = this->Now;
}
