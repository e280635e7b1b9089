import { type ReactNode, useEffect, useRef } from "react";
import { useJoinedTalk } from "../join/joined-talk.tsx";
import { SILENCE, SoundBands } from "./sound-bands.ts";

/** The bars of the logo: their horizontal positions and their heights in silence. */
const BARS = [
  { x: 9, height: 8 },
  { x: 14, height: 16 },
  { x: 18, height: 11 },
  { x: 23, height: 6 },
] as const;
const WIDTH = 2.6;
/** How much higher than in silence a bar becomes at most. */
const GROWTH = 1.5;
/** A smaller change is not drawn, so that nothing is drawn in silence. */
const VISIBLE = 0.02;

/**
 * The agent's presence: the logo's bars, moved by the agent's voice and by one's own. For people who prefer reduced
 * motion, the bars stay still.
 */
export function Presence(): ReactNode {
  const { liveKit } = useJoinedTalk();
  const bars = useRef<SVGGElement>(null);
  useEffect(() => {
    const sound = new SoundBands(liveKit);
    const calm = matchMedia("(prefers-reduced-motion: reduce)");
    const drawn = [...SILENCE];
    let frame = 0;
    // Updated without React, because it changes with each frame.
    const draw = () => {
      frame = requestAnimationFrame(draw);
      for (const [index, level] of (calm.matches ? SILENCE : sound.read()).entries()) {
        if (Math.abs(level - (drawn[index] ?? 0)) < VISIBLE) continue;
        drawn[index] = level;
        const bar = bars.current?.children[index];
        if (bar instanceof SVGElement) bar.style.transform = `scaleY(${1 + level * GROWTH})`;
      }
    };
    const stop = sound.follow();
    draw();
    return () => {
      cancelAnimationFrame(frame);
      stop();
    };
  }, [liveKit]);
  return (
    <svg className="presence" viewBox="0 0 32 32" aria-hidden="true">
      <circle className="halo" cx="16" cy="16" r="15.5" />
      <g ref={bars}>
        {BARS.map(({ x, height }) => (
          <rect key={x} x={x - WIDTH / 2} y={16 - height / 2} width={WIDTH} height={height} rx={WIDTH / 2} />
        ))}
      </g>
    </svg>
  );
}
