// Package main is a Parley client written using only docs/protocol.md.
package main

import (
	"strings"
	"sync"
	"time"

	"github.com/livekit/protocol/livekit"
	lksdk "github.com/livekit/server-sdk-go/v2"
)

const (
	topic         = "parley"
	packetBytes   = 15_000
	envelopeBytes = 4 << 20
	stringBytes   = 1 << 20
	againAfter    = 4 * time.Second
	giveUpAfter   = 30 * time.Second
)

const (
	typeError              = 1
	typeUserMessage        = 2
	typeAssistantMessage   = 3
	typeToolRequest        = 6
	typeToolResult         = 7
	typeAck                = 8
	typeControlStop        = 10
	typeConfiguration      = 12
	typeStartAnswer        = 13
	typeSentence           = 16
	typePermissionRequest  = 101
	typePermissionResponse = 102
	typeCancel             = 103
	typeProgress           = 104
)

// unacked is a message that the worker has not acknowledged.
type unacked struct {
	messageType int
	frame       []byte
	sentAt      time.Time
	dueAt       time.Time
	// isOut: sent while an agent was in the room.
	isOut bool
}

// Client is one participant in a room. Its fields may be used only while holding the lock.
type Client struct {
	url, token string
	features   []string
	tools      map[string]Tool
	offered    []string
	print      func(event map[string]any)

	lock         sync.Mutex
	room         *lksdk.Room
	agents       map[string]bool
	conversation string
	lastStanza   int64
	unacked      map[int64]*unacked
	seen         map[string]map[int64]bool
	lastSeen     int64
	firstMissed  int64
	calls        map[string]*call
	results      map[string]map[string]any
	answers      map[string]*answer
	outgoing     chan func()
}

// Join enters the room, for the first time or again.
func (c *Client) Join() error {
	c.lock.Lock()
	c.agents = map[string]bool{}
	c.lock.Unlock()
	callback := &lksdk.RoomCallback{
		OnParticipantConnected:    func(p *lksdk.RemoteParticipant) { c.onParticipant(p) },
		OnParticipantDisconnected: func(p *lksdk.RemoteParticipant) { c.onLeft(p) },
		OnReconnected:             func() { c.configure() },
		ParticipantCallback: lksdk.ParticipantCallback{
			OnDataPacket: func(data lksdk.DataPacket, params lksdk.DataReceiveParams) {
				packet, isUser := data.(*lksdk.UserDataPacket)
				if isUser && (packet.Topic == topic || packet.Topic == "") {
					c.onFrame(packet.Payload, params.SenderIdentity, params.Sender)
				}
			},
		},
	}
	room := lksdk.NewRoom(callback)
	err := room.RegisterByteStreamHandler(topic, func(reader *lksdk.ByteStreamReader, identity string) {
		frame := reader.ReadAll()
		c.onFrame(frame, identity, room.GetParticipantByIdentity(identity))
	})
	if err != nil {
		return err
	}
	c.lock.Lock()
	c.room = room
	c.lock.Unlock()
	if err := room.JoinWithToken(c.url, c.token, lksdk.WithAutoSubscribe(false)); err != nil {
		return err
	}
	c.lock.Lock()
	c.conversation = conversationOf(room.Name())
	c.lock.Unlock()
	for _, participant := range room.GetRemoteParticipants() {
		c.onParticipant(participant)
	}
	return nil
}

// Leave leaves the room. Running calls continue.
func (c *Client) Leave() {
	c.lock.Lock()
	room := c.room
	c.lock.Unlock()
	room.Disconnect()
}

func conversationOf(room string) string {
	if strings.HasPrefix(room, "conv_ac_") && len(room) > len("conv_ac_") {
		return strings.TrimPrefix(room, "conv_")
	}
	return room
}

func isAgent(p *lksdk.RemoteParticipant) bool {
	return p != nil && int(p.Kind()) == int(livekit.ParticipantInfo_AGENT)
}

func (c *Client) onParticipant(p *lksdk.RemoteParticipant) {
	if !isAgent(p) {
		return
	}
	c.lock.Lock()
	isNew := !c.agents[p.Identity()]
	c.agents[p.Identity()] = true
	isReady := c.conversation != ""
	c.lock.Unlock()
	if isNew && isReady {
		c.configure()
	}
}

func (c *Client) onLeft(p *lksdk.RemoteParticipant) {
	c.lock.Lock()
	defer c.lock.Unlock()
	delete(c.agents, p.Identity())
}

// configure sends the client's Configuration. An older Configuration must not arrive after a newer one.
func (c *Client) configure() {
	c.lock.Lock()
	defer c.lock.Unlock()
	for stanza, message := range c.unacked {
		if message.messageType == typeConfiguration {
			delete(c.unacked, stanza)
		}
	}
	tools := []any{}
	for _, name := range c.offered {
		tools = append(tools, c.tools[name].announcement(name))
	}
	body := map[string]any{"clientVersion": "go 1", "features": c.features, "tools": tools}
	if c.firstMissed != 0 {
		body["lastSequenceSeen"] = c.firstMissed - 1
	} else if c.lastSeen != 0 {
		body["lastSequenceSeen"] = c.lastSeen
	}
	c.send(typeConfiguration, body, true)
}

// Offer changes the announced tools.
func (c *Client) Offer(names []string) {
	c.lock.Lock()
	c.offered = names
	c.lock.Unlock()
	c.configure()
}

// Say sends a UserMessage. Without a worker, the message waits for one.
func (c *Client) Say(text string) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.send(typeUserMessage, map[string]any{"id": newID(), "content": text}, false)
}

// Stop ends the current answer.
func (c *Client) Stop() {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.send(typeControlStop, map[string]any{}, false)
}

// send numbers a message, and sends it until it is acknowledged. The caller must hold the lock.
func (c *Client) send(messageType int, body map[string]any, asStream bool) {
	c.lastStanza++
	frame, err := encode(c.lastStanza, c.conversation, messageType, body)
	if err != nil {
		return
	}
	now := time.Now()
	c.unacked[c.lastStanza] = &unacked{messageType, frame, now, now.Add(againAfter), len(c.agents) > 0}
	c.publish(frame, asStream)
}

func (c *Client) acknowledge(stanza int64, success bool) {
	body := map[string]any{"acknowledgedStanzaId": stanza, "success": success}
	if frame, err := encode(0, c.conversation, typeAck, body); err == nil {
		c.publish(frame, false)
	}
}

func (c *Client) publish(frame []byte, asStream bool) {
	room, to := c.room, []string{}
	for identity := range c.agents {
		to = append(to, identity)
	}
	if len(to) == 0 {
		return
	}
	c.outgoing <- func() {
		if !asStream && len(frame) <= packetBytes {
			packet := &lksdk.UserDataPacket{Payload: frame, Topic: topic}
			_ = room.LocalParticipant.PublishDataPacket(packet, lksdk.WithDataPublishReliable(true), lksdk.WithDataPublishDestination(to))
			return
		}
		options := lksdk.StreamBytesOptions{Topic: topic, DestinationIdentities: to, TotalSize: uint64(len(frame))}
		writer := room.LocalParticipant.StreamBytes(options)
		written := make(chan struct{})
		onDone := func() { close(written) }
		writer.Write(frame, &onDone)
		select {
		case <-written:
		case <-time.After(10 * time.Second):
		}
		writer.Close()
	}
}

// keepSending repeats messages without an Ack, for half a minute.
func (c *Client) keepSending() {
	for range time.Tick(50 * time.Millisecond) {
		c.lock.Lock()
		now := time.Now()
		for stanza, message := range c.unacked {
			if len(c.agents) == 0 || now.Before(message.dueAt) {
				continue
			}
			if now.Sub(message.sentAt) > giveUpAfter {
				delete(c.unacked, stanza)
				continue
			}
			message.dueAt = now.Add(againAfter)
			message.isOut = true
			// A stream includes its sender's identity.
			c.publish(message.frame, true)
		}
		c.lock.Unlock()
	}
}
