package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// A worker is a process that reads in one way. It gets one access, then job
// after job, as JSON on its standard input, and answers each on its standard
// output.

// job asks for the same of one or more repositories.
type job struct {
	URLs   []string
	Ref    string // full name of the wanted ref; "" wants all refs
	AtOnce int    // how many repositories are read at the same time
	Cold   bool   // keep nothing of earlier jobs: no connection, nothing learnt
	Allocs bool   // count allocations in place of time
}

// answer is how a job went.
type answer struct {
	Took   time.Duration
	Read   string // what was read: the same from each way that reads right
	Peak   int64  // the most memory that the worker has held so far, in bytes; 0 where the system does not tell
	Idle   int64  // what it held before its first job
	Allocs float64
	Error  string
}

// worker is our end of such a process.
type worker struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	enc *json.Encoder
	dec *json.Decoder
}

// startWorker starts a process that reads as by says.
func startWorker(ctx context.Context, by string, a access) (*worker, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, "-worker", by)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	w := &worker{cmd: cmd, in: in, enc: json.NewEncoder(in), dec: json.NewDecoder(out)}
	return w, w.enc.Encode(a)
}

// do gives the worker a job and waits for its answer.
func (w *worker) do(j job) (answer, error) {
	var a answer
	err := w.enc.Encode(j)
	if err == nil {
		err = w.dec.Decode(&a)
	}
	if err == nil && a.Error != "" {
		err = errors.New(a.Error)
	}
	return a, err
}

// close ends the process.
func (w *worker) close() error {
	return errors.Join(w.in.Close(), w.cmd.Wait())
}

// serveWorker is the other end.
func serveWorker(ctx context.Context, by string, in io.Reader, out io.Writer) error {
	dec, enc := json.NewDecoder(in), json.NewEncoder(out)
	var a access
	if err := dec.Decode(&a); err != nil {
		return err
	}
	w, err := newWay(by, a)
	if err != nil {
		return err
	}
	idle := peakMemory(w)
	for {
		var j job
		if err := dec.Decode(&j); errors.Is(err, io.EOF) {
			return w.forget()
		} else if err != nil {
			return err
		}
		answer, err := do(ctx, w, j)
		answer.Idle = idle
		if err != nil {
			answer.Error = fmt.Sprintf("%s: %v", by, err)
		}
		if err := enc.Encode(answer); err != nil {
			return err
		}
	}
}
