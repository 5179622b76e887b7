// SPDX-License-Identifier: BSD-3-Clause
// Test events beyond ParaView's own:
//
//   bat_wait_for PROPERTY=TEXT   until the property of the object has this text, a minute at most
//   bat_wait_for_value PROPERTY=EXPRESSION
//                                the same, with the value of a Python expression
//   bat_wait MILLISECONDS        whatever happens meanwhile
//   bat_press X,Y                holds the left mouse button down for all of Qt; ParaView's own
//   bat_release X,Y              mousePress is seen by the widget alone. In shares of the widget
//   bat_drag X,Y X,Y             from one place in the widget to another, or beyond it
//   bat_hold X,Y X,Y             the same, without letting the button go: the next drag does
//   bat_hover X,Y                moves the mouse there, with no button down
//   bat_interrupt X,Y            clicks there while a picture is drawn, until one is cancelled
//   bat_stop button|Escape       during the next load, presses the abort button or the key
//   bat_filter CATEGORY/NAME     chooses a filter in the Filters menu by its proxy name
//   bat_python CODE              in ParaView's own Python; an exception ends the test
#ifndef pqBATEventPlayer_h
#define pqBATEventPlayer_h

#include "pqWidgetEventPlayer.h"

class pqBATEventPlayer : public pqWidgetEventPlayer
{
  Q_OBJECT
  typedef pqWidgetEventPlayer Superclass;

public:
  explicit pqBATEventPlayer(QObject* parent);

  using Superclass::playEvent;
  bool playEvent(
    QObject* object, const QString& command, const QString& arguments, bool& error) override;

private:
  Q_DISABLE_COPY(pqBATEventPlayer)
};

#endif
