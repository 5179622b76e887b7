// SPDX-License-Identifier: BSD-3-Clause
#include "Refining.h"

#include "Conditions.h"
#include "ReaderNumbers.h"

#include <algorithm>

//------------------------------------------------------------------------------
void bat_vtk::Refining::Begin()
{
  StepState::Begin();
  this->BeforeStep = this->Last;
  this->AtOnce = false;
}

//------------------------------------------------------------------------------
double bat_vtk::Refining::Choose(
  const bat::Query& query, std::uint64_t generation, double target, double first)
{
  const bool isStep = this->IsStep();
  double quality = first;
  if (this->Last.Generation == generation && SameConditions(this->Last.Query, query))
  {
    const double before = this->Last.Query.quality;
    const double growth = std::max(first, StepGrowth * before);
    quality = std::max(first, isStep ? before + growth : before);
    if (isStep && target - quality < SmallRest * growth)
    {
      quality = target;
    }
  }
  quality = std::min(target, quality);
  this->Last = { query, generation };
  this->Last.Query.quality = quality;
  return quality;
}

//------------------------------------------------------------------------------
void bat_vtk::Refining::LoadAtOnce(const bat::Query& query, std::uint64_t generation)
{
  this->Last = { query, generation };
  this->AtOnce = true;
}

//------------------------------------------------------------------------------
void bat_vtk::Refining::Cancelled()
{
  if (this->IsPutOff() || this->AtOnce)
  {
    this->Last = this->BeforeStep;
  }
  StepState::Cancelled();
}

//------------------------------------------------------------------------------
void bat_vtk::Refining::Failed()
{
  if (this->AtOnce)
  {
    this->Last = {}; // steps that follow begin with a small one
  }
  StepState::Failed();
}
