// Command bench measures what a reading of refs costs beside what it costs by
// other means: go-git's Remote.List, "git ls-remote", and, as the floor, the
// same request sent ready-made by a minimal client. "make bench" runs it.
//
// All ways ask the same servers, by turns, so that a slow minute of the machine
// slows all of them: nginx with git http-backend, OpenSSH, git daemon. Each way
// is a process of its own, so that none pays for another's garbage.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"
)

func main() {
	if isExternal() {
		if err := serveExternal(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	o := options{}
	flag.BoolVar(&o.quick, "quick", false, "leave out what takes long, and measure each thing a few times only")
	flag.StringVar(&o.cli, "cli", "", "path of terraform or tofu")
	flag.StringVar(&o.provider, "provider", "", "path of the built provider")
	flag.StringVar(&o.other, "other", "", "path of another built provider, hashicorp/time; may be left out")
	only := flag.String("only", ".", "regular expression: measure only what it matches")
	profile := flag.String("profile", "", "directory: write profiles of our own reading there, and compare nothing")
	as := flag.String("worker", "", "used by bench itself: read as this way, as told on standard input")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var err error
	switch o.only, err = regexp.Compile(*only); {
	case err != nil:
	case *as != "":
		err = serveWorker(ctx, *as, os.Stdin, os.Stdout)
	case *profile != "":
		err = writeProfiles(ctx, *profile, o.only)
	default:
		err = compare(ctx, o)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// options is what the command line says.
type options struct {
	quick                bool
	only                 *regexp.Regexp
	cli, provider, other string
}

// compare measures everything and prints the table and the bars.
func compare(ctx context.Context, o options) (err error) {
	if o.cli == "" || o.provider == "" {
		return errors.New("-cli and -provider are needed: run it through make bench")
	}
	began, load := time.Now(), loadAverage()
	s, err := startSetup(ctx, fullScale.or(quickScale, o.quick))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()

	var results results
	for _, c := range s.contests() {
		if !o.only.MatchString(c.name) {
			continue
		}
		progress("%s", c.name)
		r, err := c.run(ctx, s.access, s.scale.pace)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		results = append(results, r)
	}
	plans, err := s.plans(ctx, o)
	if err != nil {
		return err
	}
	results = append(results, plans...)
	kept, err := s.allocations(ctx)
	if err != nil {
		return err
	}
	out := os.Stdout
	fmt.Fprintf(out, "%s\nload average %s at the beginning, %s at the end, %s later\n\n",
		machine(ctx, o.cli), load, loadAverage(), time.Since(began).Round(time.Second))
	results.writeTable(out)
	fmt.Fprintf(out, "\n%s", kept)
	fmt.Fprintf(out, "binary: %s\n\n", binarySizes(o.provider, o.other))
	writeBars(out, judge(results, s.scale))
	return nil
}

// progress tells a person who waits what is being done.
func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
}
