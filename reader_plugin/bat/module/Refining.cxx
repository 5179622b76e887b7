// SPDX-License-Identifier: BSD-3-Clause
#include "Refining.h"

#include "Conditions.h"
#include "ReaderNumbers.h"

#include <algorithm>
#include <utility>

//------------------------------------------------------------------------------
void bat_vtk::Refining::Begin()
{
  const bool isStep = std::exchange(this->Asked, false) && !this->Aborted;
  this->Now = isStep ? Update::Step : Update::Plain;
  this->Aborted = false;
  this->BeforeStep = this->Last;
}

//------------------------------------------------------------------------------
double bat_vtk::Refining::Choose(
  const bat::Query& query, std::uint64_t generation, double target, double first)
{
  const bool isStep = this->Now == Update::Step;
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
void bat_vtk::Refining::PutOff()
{
  if (this->Now == Update::Step)
  {
    this->Now = Update::PutOff;
  }
}

//------------------------------------------------------------------------------
void bat_vtk::Refining::Loaded()
{
  this->Aborted = false;
  if (this->Now == Update::Step)
  {
    this->Now = Update::Plain;
  }
}

//------------------------------------------------------------------------------
void bat_vtk::Refining::GivenUp()
{
  this->Aborted = !this->IsPutOff();
  if (this->IsPutOff())
  {
    this->Last = this->BeforeStep;
  }
  else
  {
    this->Now = Update::Plain;
  }
}

//------------------------------------------------------------------------------
void bat_vtk::Refining::Failed()
{
  this->Aborted = false;
  this->Now = Update::Plain;
}
